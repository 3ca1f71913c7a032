/**
 * Tokens of people and nodes. The table has only their SHA-256. A slow hash such as scrypt protects passwords, which can
 * be guessed. A token is 256 random bits, or at least as long, so nobody can guess it, and each request pays the hash.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Tokens, TokenScope } from '@goondan/runtime/history';
import { GoondanError } from '@goondan/types';
import type { Database } from '../driver/database.ts';

/** The fewest and the most characters of a token. A shorter one could be guessed. */
const FEWEST = 32;
const MOST = 512;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,99}$/;

export interface NewToken {
  readonly name: string;
  readonly scope: TokenScope;
  /** The token; a random one when absent. */
  readonly token?: string;
}

export interface ListedToken {
  readonly name: string;
  readonly scope: TokenScope;
  readonly createdAt: Date;
}

export function postgresTokens(database: Pick<Database, 'query'>): Tokens {
  return {
    async check(token) {
      if (token.length < FEWEST || token.length > MOST) return undefined;
      const hash = hashOf(token);
      const [row] = await database.query<{
        readonly name: string;
        readonly scope: TokenScope;
        readonly hash: string;
      }>('select name, scope, hash from gdn_token where hash = $1', [hash]);
      const isEqual = row !== undefined && timingSafeEqual(Buffer.from(row.hash), Buffer.from(hash));
      return isEqual ? { name: row.name, scope: row.scope } : undefined;
    },
  };
}

/** **Errors** — `E_CLUSTER_TOKEN` when the name cannot be used, or the token is too short or too long. */
export function checkNewToken({ name, token = randomToken() }: Pick<NewToken, 'name' | 'token'>): string {
  if (!NAME.test(name)) {
    throw new GoondanError('E_CLUSTER_TOKEN', `The name of a token cannot be ${JSON.stringify(name)}.`, {
      suggestion: 'Use letters, digits and the signs . _ @ -, at most 100.',
    });
  }
  if (token.length < FEWEST || token.length > MOST) {
    throw new GoondanError(
      'E_CLUSTER_TOKEN',
      `A token has ${FEWEST} to ${MOST} characters; this one has ${token.length}.`,
      {
        suggestion: 'Leave GOONDAN_CLUSTER_TOKEN empty: a random token is made and printed.',
      },
    );
  }
  return token;
}

/**
 * Adds a token and returns it. It cannot be read again. **Errors** — those of `checkNewToken`; `E_CLUSTER_TOKEN` when the name
 * or the token is taken.
 */
export async function addToken(database: Pick<Database, 'query'>, added: NewToken): Promise<string> {
  const token = checkNewToken(added);
  const { name, scope } = added;
  // A repeated statement finds its own row: the same name, scope and hash.
  const rows = await database
    .query(
      `insert into gdn_token as t (name, scope, hash) values ($1, $2, $3)
on conflict (name) do update set scope = excluded.scope where t.hash = excluded.hash and t.scope = excluded.scope
returning 1`,
      [name, scope, hashOf(token)],
    )
    .catch((error: unknown) => {
      throw isTaken(error)
        ? new GoondanError('E_CLUSTER_TOKEN', 'Another name has this token.', { cause: error })
        : error;
    });
  if (rows.length > 0) return token;
  throw new GoondanError('E_CLUSTER_TOKEN', `There is a token with the name "${name}".`, {
    suggestion: 'Choose another name, or remove the token with `gdn store token remove`.',
  });
}

export async function listTokens(database: Pick<Database, 'query'>): Promise<readonly ListedToken[]> {
  const rows = await database.query<{ readonly name: string; readonly scope: TokenScope; readonly created_at: Date }>(
    'select name, scope, created_at from gdn_token order by created_at, name',
  );
  return rows.map(({ name, scope, created_at: createdAt }) => ({ name, scope, createdAt }));
}

/**
 * Removes a token. Returns false if there is none with this name. **Errors** — `E_CLUSTER_TOKEN` while living nodes of any
 * swarm use it, and for the last token that may operate; never with `force`.
 */
export async function removeToken(database: Pick<Database, 'query'>, name: string, force = false): Promise<boolean> {
  const [row] = await database.query<{
    readonly removed: boolean;
    readonly users: string | null;
    readonly last: boolean;
  }>(
    // The locks let one of two removals at the same time see the other.
    `with operating as (
  select name from gdn_token where scope = 'operate' order by name for update
), last as (
  select 1 where exists (select 1 from operating where name = $1) and not exists (select 1 from operating where name <> $1)
), users as (
  select n.swarm, n.name from gdn_node n join gdn_token t on t.hash = n.token
  where t.name = $1 and n.lease_until > clock_timestamp()
), removed as (
  delete from gdn_token where name = $1 and ($2::boolean or not exists (select 1 from users) and not exists (select 1 from last))
  returning 1
)
select exists (select 1 from removed) as removed, exists (select 1 from last) as last,
  (select string_agg(format('"%s" of swarm "%s"', name, swarm), ', ' order by swarm, name) from users) as users`,
    [name, force],
  );
  if (row === undefined || row.removed || (row.users === null && !row.last)) return row?.removed === true;
  if (row.users === null) {
    throw new GoondanError('E_CLUSTER_TOKEN', `The token "${name}" is the last one that may operate.`, {
      suggestion:
        'Make another one with `gdn store token add` first. `--force` removes it now; `gdn store init` then makes a first token again.',
    });
  }
  throw new GoondanError('E_CLUSTER_TOKEN', `Living nodes use the token "${name}": ${row.users}.`, {
    suggestion:
      'Start these nodes with another token first. `--force` removes it now; the nodes then refuse each other.',
  });
}

function randomToken(): string {
  return `gdn_${randomBytes(32).toString('base64url')}`;
}

export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** 23505: the column `hash` is unique. */
function isTaken(error: unknown): boolean {
  return error instanceof Error && (error.cause as { readonly code?: string } | undefined)?.code === '23505';
}
