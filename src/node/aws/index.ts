/** `plimsoll/aws`: clients of the AWS SDK for JavaScript v3 under guards. */
export {
  budgetedRetries,
  type SdkRetryOptions,
  type SdkRetryStrategy,
  type SdkRetryToken,
} from "./budgeted-retries.ts";
export type { AwsCommand, AwsMiddlewareStack } from "./command.ts";
export { type AwsClient, type GuardedAws, guardedAws } from "./guarded.ts";
export type { AwsGuardOptions, AwsOperationOptions } from "./options.ts";
