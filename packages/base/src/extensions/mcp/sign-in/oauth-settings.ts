/** The field `oauth` of a server: how to sign in. Without it, a person signs in, and the client registers itself. */
import type { JsonValue } from '@goondan/types';
import { isObject } from '../../../json/is-object.ts';

export interface OauthSettings {
  /** The id of a client that is registered already. */
  readonly clientId?: string;
  /** The secret of that client, as a variable: `${NAME}`. */
  readonly clientSecret?: string;
  /** The private key of that client in PKCS #8, as a variable. It is used in place of a secret. */
  readonly privateKey?: string;
  /** The algorithm of the private key. */
  readonly algorithm?: string;
  /** Scopes to ask for, besides those that the server demands. */
  readonly scopes?: readonly string[];
  /** The issuer of the only authorization server that may get the credentials. */
  readonly issuer?: string;
  /** The https address of a document that describes this client, for servers that accept it as the id of the client. */
  readonly clientMetadataUrl?: string;
  /** The port of the redirect to `http://127.0.0.1:PORT/callback`. */
  readonly callbackPort?: number;
  /** `client_credentials`: the client signs in by itself, without a person. */
  readonly grant?: 'authorization_code' | 'client_credentials';
}

const texts = ['clientId', 'clientSecret', 'privateKey', 'algorithm', 'issuer', 'clientMetadataUrl'] as const;
const others: readonly string[] = ['scopes', 'callbackPort', 'grant'];
const secrets = ['clientSecret', 'privateKey'] as const;

/** Checks the field `oauth` of an entry. `refuse` makes the error from the path of a value and the problem. */
export function checkOauth(value: JsonValue, refuse: (problem: string) => Error): OauthSettings | false {
  if (value === false) return false;
  if (!isObject(value)) throw refuse('.oauth must be an object, or false');
  const { misspelt, meant } = findMisspelt(value) ?? {};
  if (misspelt !== undefined) throw refuse(`.oauth.${misspelt} is unknown; did you mean ${meant}?`);
  const wrong = texts.find((key) => value[key] !== undefined && (typeof value[key] !== 'string' || value[key] === ''));
  if (wrong !== undefined) throw refuse(`.oauth.${wrong} must be a text`);
  const open = secrets.find((key) => value[key] !== undefined && !isVariable(value[key]));
  if (open !== undefined)
    throw refuse(`.oauth.${open} must be a variable, such as \${CLIENT_SECRET}: secrets are not written into the file`);
  const { scopes, callbackPort, grant } = value;
  const isList = Array.isArray(scopes) && scopes.every((scope) => typeof scope === 'string' && /^\S+$/.test(scope));
  if (scopes !== undefined && !isList) throw refuse('.oauth.scopes must be a list of scopes');
  if (callbackPort !== undefined && !isPort(callbackPort)) throw refuse('.oauth.callbackPort must be a port');
  if (grant !== undefined && grant !== 'authorization_code' && grant !== 'client_credentials') {
    throw refuse('.oauth.grant must be "authorization_code" or "client_credentials"');
  }
  const problem = findProblem(value);
  if (problem !== undefined) throw refuse(problem);
  const known: readonly string[] = [...texts, ...others];
  return Object.fromEntries(Object.entries(value).filter(([key]) => known.includes(key)));
}

/** Finds fields that do not fit together. */
export function findProblem({ grant, clientId, clientSecret, privateKey }: OauthSettings): string | undefined {
  const hasProof = clientSecret !== undefined || privateKey !== undefined;
  if (hasProof && clientId === undefined) return '.oauth.clientId is missing';
  if (grant === 'client_credentials' && !hasProof) {
    return '.oauth.grant "client_credentials" needs clientId and clientSecret, or clientId and privateKey';
  }
  return undefined;
}

/** Finds a field in the spelling of another client. Other unknown fields belong to other clients, which read the file, too. */
function findMisspelt(value: object): { readonly misspelt: string; readonly meant: string } | undefined {
  const plain = (key: string) => key.replaceAll(/[-_]/g, '').toLowerCase();
  const known = [...texts, ...others];
  for (const misspelt of Object.keys(value).filter((key) => !known.includes(key))) {
    const meant = known.find((each) => plain(each) === plain(misspelt));
    if (meant !== undefined) return { misspelt, meant };
  }
  return undefined;
}

function isVariable(value: JsonValue | undefined): boolean {
  return typeof value === 'string' && /^\$\{[A-Za-z_]\w*\}$/.test(value);
}

function isPort(value: JsonValue): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 65_536;
}
