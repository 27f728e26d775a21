#if ThreadSanitizer
  import Platform

  /// Replaces the standard mutex, which ThreadSanitizer does not see.
  typealias Mutex<Value: ~Copyable> = VisibleMutex<Value>
#endif
