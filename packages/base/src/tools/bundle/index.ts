/**
 * The tool `bundle`: changes the bundle that the agent's swarm runs from. The edits of a changeset are kept beside the
 * bundle until they are committed; the runtime checks them, asks a person, and replaces the files.
 */
import type { ToolHandler } from '@goondan/types';

// The casts are safe: arguments were checked against the schemas in tools.yaml.

const open: ToolHandler = ({ bundle }) => bundle.open();

const read: ToolHandler = async ({ bundle }, input) => {
  const { changesetId, path } = input as { changesetId: string; path: string };
  const content = await bundle.read(changesetId, path);
  return content === null ? { changesetId, path, deleted: true } : { changesetId, path, content };
};

const write: ToolHandler = async ({ bundle }, input) => {
  const { changesetId, path, content } = input as { changesetId: string; path: string; content?: string };
  await bundle.write(changesetId, path, content ?? null);
  return { changesetId, path, ...(content === undefined ? { deleted: true } : { written: true }) };
};

const commit: ToolHandler = ({ bundle }, input) => {
  const { changesetId } = input as { changesetId: string };
  return bundle.commit(changesetId);
};

export const handlers = { open, read, write, commit };
