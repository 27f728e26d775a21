import CommandLineSupport
import FrameBus
import Upload

/// Parses the policy of `--policy`.
func subscriberPolicy(_ text: String) throws(UsageError) -> SubscriberPolicy {
  guard let policy = DeliveryPolicy(text) else {
    throw UsageError("--policy \(text): use latest, keep:N or lossless[:SECONDS]")
  }
  return policy.subscriberPolicy
}
