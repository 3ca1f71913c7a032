/** The tool `file-system`: reads, writes, edits, lists and searches inside one folder only. */
import type { ToolHandler } from '@goondan/types';
import type { EditAsk } from './edit-text.ts';
import { readFileConfig } from './file-config.ts';
import type { ReadAsk } from './read-text.ts';
import type { SearchAsk } from './search/find-matches.ts';

const MOST_MATCHES = 100;

// The casts in this file are safe: the arguments were checked against the schemas in tools.yaml.

const read: ToolHandler = async (ctx, input) => {
  const { readText } = await import('./read-text.ts');
  return readText(input as unknown as ReadAsk, readFileConfig(ctx));
};

const write: ToolHandler = async (ctx, input) => {
  const { writeText } = await import('./write-text.ts');
  return writeText(input as unknown as Parameters<typeof writeText>[0], readFileConfig(ctx));
};

const edit: ToolHandler = async (ctx, input) => {
  const { editText } = await import('./edit-text.ts');
  return editText(input as unknown as EditAsk, readFileConfig(ctx));
};

const list: ToolHandler = async (ctx, input) => {
  const { listFolder } = await import('./list-folder.ts');
  return listFolder(input, readFileConfig(ctx));
};

const search: ToolHandler = async (ctx, input) => {
  const { searchFiles } = await import('./search/search-files.ts');
  const {
    limit = MOST_MATCHES,
    path = '.',
    ignoreCase = false,
    ...what
  } = input as Partial<SearchAsk> & { limit?: number };
  const { root, skip, fileLimit, searchTimeoutMs: timeoutMs } = readFileConfig(ctx);
  return searchFiles({ root, path, ignoreCase, skip, fileLimit, ...what }, { limit, timeoutMs, signal: ctx.signal });
};

export const handlers = { read, write, edit, list, search };
