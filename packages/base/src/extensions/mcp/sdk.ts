/**
 * The SDK of the Model Context Protocol. No other file imports it. The import takes a tenth of a second, so it happens
 * when the first server is opened.
 */
export type {
  AuthProvider,
  FetchLike,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';

export type Sdk = typeof import('@modelcontextprotocol/client');
export type SdkClient = InstanceType<Sdk['Client']>;

export function loadSdk(): Promise<Sdk> {
  return import('@modelcontextprotocol/client');
}
