/**
 * The bytes of images and files in PostgreSQL, in pieces of bounded size.
 *
 * 1. A use is written before the bytes. `named` is false until something durable names the bytes; then only `sweep` removes
 *    the use, when it is old and nothing names the bytes. So the deletion of a conversation does not take the bytes of
 *    input that another node is accepting for it.
 * 2. Every `put` and `use` changes `touched` of the bytes in the statement that writes the use. Bytes are removed only if
 *    they have no use and `touched` is as it was when that was seen: the first tells bytes that were removed and stored
 *    again from those before them, and the second finds a use that is written at the same moment.
 * 3. Bytes that are stored already are compared by the database when they are stored again. If they are damaged, their
 *    pieces are replaced.
 * 4. A sweep does not trust the uses alone, because they may be lost: it removes no bytes that a conversation or its input
 *    names. A release and a deletion remove only bytes whose uses they have ended, and so need not search.
 */
import type { AgentAddress } from '@goondan/types';
import type { BlobOwner, Blobs, LostFile } from '@goondan/runtime/history';
import { damagedFile, instanceFolderName, sha256, unknownFile } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';
import { isUnreadable } from '../driver/coded-error.ts';
import type { Query } from '../driver/repeat.ts';

/** The bytes of one statement. */
const PIECE_BYTES = 1024 * 1024;
/** The age at which a use that nothing names counts as left over. An accept takes seconds. */
const LEFT_OVER_MS = 60 * 60 * 1000;

export interface BlobRows {
  readonly query: Query;
  readonly swarm: string;
  readonly leftOverMs?: number;
}

export interface PostgresBlobs extends Blobs {
  /** Removes these bytes, if nobody uses them. */
  removeUnused(digests: readonly string[]): Promise<void>;
}

export function postgresBlobs({ query, swarm, leftOverMs = LEFT_OVER_MS }: BlobRows): PostgresBlobs {
  async function writePieces(digest: string, bytes: Uint8Array): Promise<void> {
    const count = Math.ceil(bytes.length / PIECE_BYTES);
    for (let part = 0; part < count; part += 1) {
      const piece = bytes.subarray(part * PIECE_BYTES, (part + 1) * PIECE_BYTES);
      await query(PUT_PIECE, [swarm, digest, part, piece]);
    }
    const done = await query(COMPLETE, [swarm, digest, count, bytes.length]);
    if (done.length === 0) throw new GoondanError('E_STORE_WRITE', `The pieces of the file ${digest} were removed.`);
  }

  function listNamed(): Promise<readonly NamedUse[]> {
    return query<NamedUse>(NAMED_USES, [swarm]);
  }

  /** The database joins the pieces, so that no bytes travel. Bytes that it cannot read are damaged. */
  async function judge(digest: string): Promise<LostFile['problem'] | undefined> {
    try {
      const [row] = await query<{ readonly is_sound: boolean }>(IS_SOUND, [swarm, digest]);
      return row === undefined ? 'missing' : row.is_sound ? undefined : 'damaged';
    } catch (error) {
      if (isUnreadable(error)) return 'damaged';
      throw error;
    }
  }

  async function noteLost(digests: readonly string[]): Promise<void> {
    for (let last: Searched | undefined = { agent: '', key: '' }; last !== undefined;) {
      [last] = await query<Searched>(NOTE_LOST, [swarm, digests, last.agent, last.key]);
    }
  }

  async function remove(unused: readonly Unused[]): Promise<void> {
    if (unused.length === 0) return;
    const digests = unused.map(({ digest }) => digest);
    await query(REMOVE, [swarm, digests, unused.map(({ touched }) => touched)]);
  }

  async function removeUnused(digests: readonly string[]): Promise<void> {
    if (digests.length > 0) await remove(await query<Unused>(UNUSED_OF, [swarm, digests]));
  }

  return {
    async put(owner, bytes) {
      const digest = sha256(bytes);
      const [row] = await query<{ readonly is_whole: boolean }>(BEGIN, [swarm, ...nameOf(owner), digest, bytes.length]);
      if (row?.is_whole !== true || (await judge(digest)) !== undefined) await writePieces(digest, bytes);
      return digest;
    },
    async use(owner, digests) {
      for (const digest of digests) {
        const found = await query(USE, [swarm, ...nameOf(owner), digest]);
        if (found.length === 0) throw unknownFile(digest);
      }
    },
    async named(owner, digests) {
      if (digests.length > 0) await query(NAMED, [swarm, ...nameOf(owner), digests]);
    },
    async get(digest) {
      const [row] = await query<{ readonly size: number }>(SIZE, [swarm, digest]);
      if (row === undefined) return undefined;
      const pieces: Uint8Array[] = [];
      for (let part = 0; part * PIECE_BYTES < row.size; part += 1) {
        const [piece] = await query<{ readonly bytes: Uint8Array }>(READ_PIECE, [swarm, digest, part]);
        if (piece === undefined) return undefined;
        pieces.push(piece.bytes);
      }
      const bytes = Buffer.concat(pieces);
      if (sha256(bytes) !== digest) throw damagedFile(digest, 'gdn_blob');
      return bytes;
    },
    async size(digest) {
      const [row] = await query<{ readonly size: number }>(SIZE, [swarm, digest]);
      return row?.size;
    },
    async findLost() {
      const problems = new Map<string, LostFile['problem']>();
      for (const digest of new Set((await listNamed()).map((use) => use.digest))) {
        const problem = await judge(digest);
        if (problem !== undefined) problems.set(digest, problem);
      }
      if (problems.size === 0) return [];
      // Listed again: the bytes of a conversation that was deleted meanwhile are not lost.
      return (await listNamed()).flatMap(({ agent, key, digest }) => {
        const problem = problems.get(digest);
        const place = `gdn_blob ${digest}`;
        return problem === undefined ? [] : [{ conversation: instanceFolderName(agent, key), digest, problem, place }];
      });
    },
    async release(owner) {
      const ended = await query<Pick<Unused, 'digest'>>(RELEASE, [swarm, ...nameOf(owner)]);
      await removeUnused(ended.map(({ digest }) => digest));
    },
    removeUnused,
    async share(from: AgentAddress, to: AgentAddress) {
      await query(SHARE, [swarm, ...nameOf(from), ...nameOf(to)]);
    },
    async sweep() {
      await query(NAME_FOUND, [swarm, leftOverMs]);
      await query(DROP_LEFT_OVER, [swarm, leftOverMs]);
      const unused = await query<Unused>(UNUSED, [swarm]);
      if (unused.length > 0) await noteLost(unused.map(({ digest }) => digest));
      await remove(unused);
    },
  };
}

type Searched = Readonly<{ agent: string; key: string }>;
type Unused = Readonly<{ digest: string; touched: number }>;
type NamedUse = Readonly<{ agent: string; key: string; digest: string }>;

/** No agent has an empty name, so an upload is never taken for a conversation. */
function nameOf(owner: BlobOwner): readonly [agent: string, key: string] {
  return 'upload' in owner ? ['', owner.upload] : [owner.agentName, owner.instanceKey];
}

const USED_AGAIN = `on conflict (swarm, agent, key, digest) do update set named = false, since = clock_timestamp()`;

/** $1 swarm, $2 $3 owner, $4 digest, $5 size. */
const BEGIN = `
with used as (
  insert into gdn_blob_use (swarm, agent, key, digest) values ($1, $2, $3, $4) ${USED_AGAIN}
)
insert into gdn_blob as kept (swarm, digest, size) values ($1, $4, $5)
on conflict (swarm, digest) do update set touched = kept.touched + 1
returning is_whole`;

const PUT_PIECE = `
insert into gdn_blob_piece (swarm, digest, part, bytes) values ($1, $2, $3, $4)
on conflict (swarm, digest, part) do update set bytes = excluded.bytes`;

/** $3 number of pieces, $4 size. Damaged bytes may have had more pieces. */
const COMPLETE = `
with extra as (
  delete from gdn_blob_piece where swarm = $1 and digest = $2 and part >= $3
)
update gdn_blob set is_whole = true, size = $4 where swarm = $1 and digest = $2
  and (select count(*) from gdn_blob_piece where swarm = $1 and digest = $2 and part < $3) = $3
returning 1 as done`;

const IS_SOUND = `
select kept.size = length(joined.bytes) and encode(sha256(joined.bytes), 'hex') = kept.digest as is_sound
from gdn_blob as kept, lateral (
  select coalesce(string_agg(piece.bytes, ''::bytea order by piece.part), ''::bytea) as bytes
  from gdn_blob_piece as piece where piece.swarm = kept.swarm and piece.digest = kept.digest
) as joined
where kept.swarm = $1 and kept.digest = $2 and kept.is_whole`;

const USE = `
with found as (
  update gdn_blob set touched = touched + 1 where swarm = $1 and digest = $4 and is_whole returning digest
), used as (
  insert into gdn_blob_use (swarm, agent, key, digest) select $1, $2, $3, digest from found ${USED_AGAIN}
)
select digest from found`;

/** Also writes a use that a deletion of the conversation took meanwhile. */
const NAMED = `
insert into gdn_blob_use (swarm, agent, key, digest, named)
select $1, $2, $3, digest, true from gdn_blob where swarm = $1 and digest = any ($4::text[])
on conflict (swarm, agent, key, digest) do update set named = true`;

const SIZE = 'select size from gdn_blob where swarm = $1 and digest = $2 and is_whole';

const READ_PIECE = 'select bytes from gdn_blob_piece where swarm = $1 and digest = $2 and part = $3';

const RELEASE = 'delete from gdn_blob_use where swarm = $1 and agent = $2 and key = $3 returning digest';

/** $2 $3 the conversation, $4 $5 the other one. */
const SHARE = `
with shared as (
  update gdn_blob set touched = touched + 1
  where swarm = $1 and digest in (select digest from gdn_blob_use where swarm = $1 and agent = $2 and key = $3)
  returning digest
)
insert into gdn_blob_use (swarm, agent, key, digest) select $1, $4, $5, digest from shared ${USED_AGAIN}`;

const HAS_NO_USE = `
  not exists (select from gdn_blob_use as used where used.swarm = kept.swarm and used.digest = kept.digest)`;

const UNUSED = `select digest, touched from gdn_blob as kept where swarm = $1 and ${HAS_NO_USE}`;
const UNUSED_OF = `${UNUSED} and digest = any ($2::text[])`;

const REMOVE = `
with gone as (
  delete from gdn_blob as kept using unnest($2::text[], $3::text[]) as seen (digest, touched)
  where kept.swarm = $1 and kept.digest = seen.digest and kept.touched = seen.touched::bigint
    and ${HAS_NO_USE}
  returning kept.digest
)
delete from gdn_blob_piece as piece using gone where piece.swarm = $1 and piece.digest = gone.digest`;

const SAME = (table: string) =>
  `${table}.swarm = used.swarm and ${table}.agent = used.agent and ${table}.key = used.key`;
/** Old uses that are not marked as named, or whose conversation was deleted before they were marked. */
const LEFT_OVER = `
  used.swarm = $1 and used.since < clock_timestamp() - make_interval(secs => $2::float8 / 1000)
  and (not used.named or not exists (select from gdn_instance as row where ${SAME('row')}))`;
const HAS = (text: string) => `position('blob:sha256-' || used.digest in ${text}) > 0`;

const IS_FOUND = `(
  exists (select from gdn_inbox as row where ${SAME('row')} and row.pending and ${HAS("coalesce(row.event, '')")})
  or exists (select from gdn_frame as row where ${SAME('row')} and ${HAS('row.line')})
  or exists (select from gdn_archive as row where ${SAME('row')} and ${HAS('row.lines')})
  or exists (select from gdn_base as row where ${SAME('row')} and ${HAS('row.lines')})
  or exists (select from gdn_instance as row where ${SAME('row')} and ${HAS("coalesce(row.checkpoint, '')")})
  or exists (select from gdn_answer as row where ${SAME('row')} and ${HAS('row.reply')})
)`;

/** The number of conversations that one statement searches, so that it ends in time, however long the history is. */
const SEARCHED = 50;
const OF_PAGE = (table: string) =>
  `page join ${table} as row on row.swarm = $1 and row.agent = page.agent and row.key = page.key`;

/**
 * Notes the uses that were lost: those of unused bytes that a conversation or its input names. Searches the conversations
 * after one of them, and returns the last of those. $2 the unused bytes, $3 $4 the conversation.
 */
const NOTE_LOST = `
with page as materialized (
  select agent, key, checkpoint from gdn_instance where swarm = $1 and (agent, key) > ($3, $4)
  order by agent, key limit ${SEARCHED}
), kept as (
  select agent, key, checkpoint as text from page
  union all select page.agent, page.key, row.event from ${OF_PAGE('gdn_inbox')} and row.pending
  union all select page.agent, page.key, row.line from ${OF_PAGE('gdn_frame')}
  union all select page.agent, page.key, row.lines from ${OF_PAGE('gdn_archive')}
  union all select page.agent, page.key, row.lines from ${OF_PAGE('gdn_base')}
  union all select page.agent, page.key, row.reply from ${OF_PAGE('gdn_answer')}
), noted as (
  insert into gdn_blob_use (swarm, agent, key, digest, named)
  select distinct $1, kept.agent, kept.key, blob.digest, true
  from kept
  cross join lateral regexp_matches(kept.text, 'blob:sha256-([0-9a-f]{64})', 'g') as found
  join gdn_blob as blob on blob.swarm = $1 and blob.digest = found[1]
  where position('blob:sha256-' in kept.text) > 0 and blob.digest = any ($2::text[])
  on conflict (swarm, agent, key, digest) do nothing
)
select agent, key from page order by agent desc, key desc limit 1`;

/** The uses of conversations, without those that nothing names yet. */
const NAMED_USES = `
select agent, key, digest from gdn_blob_use as used
where swarm = $1 and agent <> '' and (named or ${IS_FOUND}) order by agent, key, digest`;

/** Keeps the old uses whose bytes the conversation or its input names. */
const NAME_FOUND = `update gdn_blob_use as used set named = true where ${LEFT_OVER} and ${IS_FOUND}`;

const DROP_LEFT_OVER = `delete from gdn_blob_use as used where ${LEFT_OVER} and not ${IS_FOUND}`;
