/**
 * A sign-in in progress, as the SDK asks about it. The SDK decides what is requested: discovery, registration, codes,
 * tokens, refresh. This class knows the client and the tokens, and hands new ones to `save`.
 */
import type { OauthSettings } from './oauth-settings.ts';
import type { SignIn } from './sign-in-file.ts';
import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  Sdk,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '../sdk.ts';

/** The redirect of a client that nobody redirects now. The SDK takes a client without a redirect for one without a person. */
const NOWHERE = 'http://127.0.0.1/callback';

export interface ProviderDeps {
  readonly sdk: Pick<Sdk, 'createPrivateKeyJwtAuth'>;
  readonly settings: OauthSettings;
  readonly known: SignIn;
  /** Called with each change of the client and the tokens. `undefined` tokens are no longer valid. */
  readonly save: (signIn: Pick<SignIn, 'client' | 'tokens'>) => void;
  /** Called when a person has to open an address. Throws if nobody can. */
  readonly open: (url: URL) => void;
  /** The redirect and the state of the person's sign-in; absent if no person signs in now. */
  readonly person?: { readonly redirectUrl: string; readonly state: string };
}

export class OauthProvider implements OAuthClientProvider {
  readonly clientMetadataUrl?: string;
  readonly saveClientInformation?: (client: StoredOAuthClientInformation) => void;
  readonly addClientAuthentication?: NonNullable<OAuthClientProvider['addClientAuthentication']>;
  readonly prepareTokenRequest?: (scope?: string) => URLSearchParams;
  #client: StoredOAuthClientInformation | undefined;
  #tokens: StoredOAuthTokens | undefined;
  #verifier = '';
  #requestedScope: string | undefined;
  #discovery: OAuthDiscoveryState | undefined;

  constructor(private readonly deps: ProviderDeps) {
    const { settings, known, person, sdk } = deps;
    const { clientId, clientSecret, privateKey, algorithm = 'ES256', clientMetadataUrl, grant } = settings;
    this.#tokens = known.tokens;
    this.#client = clientId === undefined ? known.client : declaredClient(settings, known);
    if (clientMetadataUrl !== undefined) this.clientMetadataUrl = clientMetadataUrl;
    // Only a person's sign-in registers a client. A declared client is never replaced by a registered one.
    if (person !== undefined && clientId === undefined) {
      const { redirectUrl } = person;
      this.saveClientInformation = (client) => {
        // The redirect is kept: a later sign-in with this client must have the same.
        this.#client = client.client_id === clientMetadataUrl ? client : { redirect_uris: [redirectUrl], ...client };
        this.#save();
      };
    }
    if (clientId !== undefined && clientSecret === undefined && privateKey !== undefined) {
      this.addClientAuthentication = sdk.createPrivateKeyJwtAuth({
        issuer: clientId,
        subject: clientId,
        privateKey,
        alg: algorithm,
      });
    }
    if (grant === 'client_credentials') {
      this.prepareTokenRequest = (scope) => {
        this.#requestedScope = scope;
        return new URLSearchParams({ grant_type: grant, ...(scope === undefined ? {} : { scope }) });
      };
    }
  }

  get redirectUrl(): string | undefined {
    const { settings, person } = this.deps;
    return settings.grant === 'client_credentials' ? undefined : (person?.redirectUrl ?? NOWHERE);
  }

  get clientMetadata(): OAuthClientMetadata {
    const { settings, person } = this.deps;
    if (settings.grant === 'client_credentials') {
      return { client_name: 'Goondan', redirect_uris: [], grant_types: ['client_credentials'] };
    }
    return {
      client_name: 'Goondan',
      redirect_uris: [person?.redirectUrl ?? NOWHERE],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    };
  }

  state(): string {
    return this.deps.person?.state ?? '';
  }

  clientInformation(): StoredOAuthClientInformation | undefined {
    return this.#client;
  }

  tokens(): StoredOAuthTokens | undefined {
    return this.#tokens;
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    // An answer without a scope has granted the requested one. A token about the person is not needed, so it is not kept.
    const { id_token: _, scope = this.#requestedScope ?? this.#tokens?.scope, ...rest } = tokens;
    this.#tokens = { ...rest, ...(scope === undefined ? {} : { scope }) };
    this.#save();
  }

  redirectToAuthorization(url: URL): void {
    this.#requestedScope = url.searchParams.get('scope') ?? undefined;
    this.deps.open(url);
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery;
  }

  invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): void {
    if (scope === 'discovery' || scope === 'all') this.#discovery = undefined;
    if (scope === 'client' || scope === 'all') this.#client = this.#isDeclared ? this.#client : undefined;
    if (scope === 'tokens' || scope === 'all') this.#tokens = undefined;
    if (scope !== 'discovery' && scope !== 'verifier') this.#save();
  }

  get #isDeclared(): boolean {
    return this.deps.settings.clientId !== undefined;
  }

  #save(): void {
    const client = this.#isDeclared ? undefined : this.#client;
    this.deps.save({
      ...(client === undefined ? {} : { client }),
      ...(this.#tokens === undefined ? {} : { tokens: this.#tokens }),
    });
  }
}

/**
 * A client of the settings. Its credentials go only to the declared issuer. Without a declared one, they go to the issuer of
 * the first sign-in.
 */
function declaredClient(
  { clientId = '', clientSecret, issuer: declared }: OauthSettings,
  { tokens }: SignIn,
): StoredOAuthClientInformation {
  const issuer = declared ?? tokens?.issuer;
  return {
    client_id: clientId,
    ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
    ...(issuer === undefined ? {} : { issuer }),
  };
}
