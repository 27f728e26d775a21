import CommandLineSupport
import FrameBus
import Upload

/// The policy that a user names with `--policy`.
func subscriberPolicy(_ text: String) throws(UsageError) -> SubscriberPolicy {
  guard let policy = DeliveryPolicy(text) else {
    throw UsageError("--policy \(text): use latest, keep:N or lossless[:SECONDS]")
  }
  return policy.subscriberPolicy
}
