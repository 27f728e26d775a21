#if Media
  #if ThreadSanitizer
    import Platform

    /// Replaces Swift's `Mutex`, whose lock ThreadSanitizer does not see.
    typealias Mutex<Value: ~Copyable> = VisibleMutex<Value>
  #endif
#endif
