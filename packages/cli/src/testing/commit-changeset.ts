/** For tests: changesets on disk, as an agent would have made them. */
import { type ChangesetRecord, type Changesets, openChangesets } from '@goondan/runtime/internal';

export const commitOf = (digest: string) => ({
  digest,
  by: 'alice',
  via: 'chat',
  baseRef: 'aaa',
  newRef: 'bbb',
  addedTools: [],
});

/** Opens a changeset with these files. */
export async function writeChangeset(
  changesets: Changesets,
  files: Readonly<Record<string, string | null>>,
  swarm = 'default',
) {
  const { id } = await changesets.open({ swarm, agent: 'host', instanceKey: 'default' });
  for (const [path, text] of Object.entries(files)) await changesets.write(id, path, text);
  return { id, ...(await changesets.edits(id)) };
}

/** Commits a changeset with these files, approved by alice. */
export async function commitChangeset(
  { swarm, ...place }: { readonly stateRoot: string; readonly bundleFolder: string; readonly swarm?: string },
  files: Readonly<Record<string, string | null>>,
  whileApplied: () => Promise<void> = async () => undefined,
): Promise<ChangesetRecord> {
  const changesets = openChangesets(place);
  const { id, edits, digest } = await writeChangeset(changesets, files, swarm);
  return changesets.apply(id, edits, commitOf(digest), whileApplied);
}
