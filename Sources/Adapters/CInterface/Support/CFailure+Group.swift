import AppGroup
import CFrameBus
import CredentialStore
import GroupSemaphores
import NotifyCenter
import Platform
import SharedDefaults
import SharedLog

// The errors of what a group shares besides frames.

extension NotifyError: CFailing {
  var failure: CFailure {
    switch self {
    case .invalidName, .invalidSignal: .argument("\(self)")
    case .cancelled: CFailure(FRAMEBUS_ERROR_HANDLE, "\(self)")
    case .notAuthorized, .refused, .notPermitted: CFailure(FRAMEBUS_ERROR_PERMISSION, "\(self)")
    case .missingTable: CFailure(FRAMEBUS_ERROR_NOT_FOUND, "\(self)")
    case .tooManyNames, .tooManyObservers: CFailure(FRAMEBUS_ERROR_LIMIT, "\(self)")
    case .untrusted: CFailure(FRAMEBUS_ERROR_UNTRUSTED, "\(self)")
    case .group(let error): error.failure
    case .system(let error): error.failure
    }
  }
}

extension DefaultsError: CFailing {
  var failure: CFailure {
    switch self {
    case .invalidName, .invalidKey, .secret: .argument("\(self)")
    case .invalidValue, .suiteTooLarge: CFailure(FRAMEBUS_ERROR_LIMIT, "\(self)")
    case .notAllowed: CFailure(FRAMEBUS_ERROR_PERMISSION, "\(self)")
    case .busy: CFailure(FRAMEBUS_ERROR_BUSY, "\(self)")
    case .untrusted, .damaged, .newerVersion: CFailure(FRAMEBUS_ERROR_UNTRUSTED, "\(self)")
    case .group(let error): error.failure
    case .system(let error): CFailure(error, "\(self)")
    }
  }
}

extension LogError: CFailing {
  var failure: CFailure {
    switch self {
    case .group(let error): error.failure
    case .invalidOption: .argument("\(self)")
    case .missingDirectory: CFailure(FRAMEBUS_ERROR_NOT_FOUND, "\(self)")
    case .system(let error): CFailure(error, "\(self)")
    case .notSaved(let error?): CFailure(error, "\(self)")
    case .notSaved(nil): CFailure(FRAMEBUS_TIMED_OUT, "\(self)")
    }
  }
}

extension SemaphoreNameError: CFailing {
  var failure: CFailure { .argument("\(self)") }
}

extension SemaphoreFileError: CFailing {
  var failure: CFailure {
    switch self {
    case .exists: CFailure(FRAMEBUS_ERROR_EXISTS, "\(self)")
    case .unknown: CFailure(FRAMEBUS_ERROR_NOT_FOUND, "\(self)")
    case .wrongValue: .argument("\(self)")
    case .notAllowed: CFailure(FRAMEBUS_ERROR_PERMISSION, "\(self)")
    case .untrusted, .wrongVersion, .unknownLayout: CFailure(FRAMEBUS_ERROR_UNTRUSTED, "\(self)")
    case .system(let error): CFailure(error, "\(self)")
    }
  }
}

extension SemaphoreError: CFailing {
  var failure: CFailure {
    switch self {
    case .removed: CFailure(FRAMEBUS_ERROR_NOT_FOUND, "\(self)")
    case .damaged: CFailure(FRAMEBUS_ERROR_UNTRUSTED, "\(self)")
    case .full, .tooManyHolders: CFailure(FRAMEBUS_ERROR_LIMIT, "\(self)")
    case .system(let error): error.failure
    }
  }
}

extension CredentialError: CFailing {
  var failure: CFailure {
    let code =
      switch self {
      case .notFound, .noStore: FRAMEBUS_ERROR_NOT_FOUND
      case .duplicate: FRAMEBUS_ERROR_EXISTS
      case .locked, .keyElsewhere, .keyInTheOpen, .notEntitled, .expired, .sessionEnded:
        FRAMEBUS_ERROR_PERMISSION
      case .tampered, .rolledBack, .newerVersion, .untrusted, .unusableExport:
        FRAMEBUS_ERROR_UNTRUSTED
      case .memoryNotLockable: FRAMEBUS_ERROR_LIMIT
      case .invalid: FRAMEBUS_ERROR_ARGUMENT
      case .busy: FRAMEBUS_ERROR_BUSY
      case .system: FRAMEBUS_ERROR_SYSTEM
      }
    return CFailure(code, "\(self)")
  }
}

/// The role that C names.
func role(_ pointer: UnsafePointer<CChar>?) throws(CFailure) -> Role {
  // SAFETY: as of all pointers of C (CStructures.swift).
  let name = try unsafe text(pointer, "role")
  guard let role = Role(rawValue: name) else {
    throw .argument("the role “\(name)” is not a role's name; use host, capture or extension")
  }
  return role
}
