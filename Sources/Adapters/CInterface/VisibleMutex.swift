#if ThreadSanitizer
  import Platform

  /// Replaces Synchronization's `Mutex`, which ThreadSanitizer does not see.
  typealias Mutex<Value: ~Copyable> = VisibleMutex<Value>
#endif
