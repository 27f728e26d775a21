#if ThreadSanitizer
  import Platform

  /// In place of the one that ThreadSanitizer does not see.
  typealias Mutex<Value: ~Copyable> = VisibleMutex<Value>
#endif
