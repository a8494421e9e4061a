/// The initial value of a thread's handle, whose type differs between C libraries.
#if canImport(Glibc)
    package var noThread: pthread_t { 0 }
#else
    package var noThread: pthread_t? { nil }
#endif
