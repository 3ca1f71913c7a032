/**
 * `tool-search`: lets a model with many tools search for the tools that it needs. The next step offers only the tools
 * that were found.
 *
 * The selection is stored in the extension's state, so it also applies to later steps and turns, until another search
 * changes it.
 */
import type { ExtensionRegister, JsonValue, ToolCatalogItem } from '@goondan/types';
import { isObject } from '../../json/is-object.ts';
import { compileGlob } from '../../pattern/compile-glob.ts';
import { rankTools } from './rank-tools.ts';

export interface ToolSearchConfig {
  /** The tools to offer before the first search. */
  readonly initial?: 'all' | 'none';
  /** Tools that are always offered; `*` matches any text. */
  readonly always?: readonly string[];
  readonly maxResults?: number;
  /** If true, a search adds to the selection instead of replacing it. */
  readonly keep?: boolean;
}

const SEARCH = 'tool-search__search';
/** The maximum number of selected tools. Beyond it, the oldest are dropped from the selection. */
const MOST_SELECTED = 200;

export const register: ExtensionRegister<ToolSearchConfig> = (api, config) => {
  const { initial = 'all', maxResults = 8, keep = false } = config;
  const always = (config.always ?? []).map(compileGlob);
  /** The tools that a search can find: the current step's catalog without the tools of this extension. */
  let catalog: readonly ToolCatalogItem[] = [];

  api.tools.register(searchTool(maxResults), async (_ctx, { query, limit = maxResults }) => {
    // The casts are safe: the arguments were checked against the schema.
    const found = rankTools(catalog, query as string).slice(0, limit as number);
    const names = found.map(({ name }) => name);
    const before = keep ? (selectedIn(await api.state.get()) ?? []) : [];
    if (found.length > 0) await api.state.set({ selectedTools: union(before, names) });
    return { tools: found.map(({ name, description }) => ({ name, description })), note: noteOn(names.length) };
  });

  api.pipeline.register(
    'step',
    async (ctx) => {
      catalog = ctx.toolCatalog.filter(({ name }) => name !== SEARCH);
      const selected = selectedIn(await api.state.get()) ?? (initial === 'all' ? undefined : []);
      if (selected !== undefined) {
        const isOffered = ({ name }: ToolCatalogItem) =>
          name === SEARCH || selected.includes(name) || always.some((matches) => matches(name) === true);
        // Keeps the catalog's order, so that the provider's prompt cache stays valid.
        ctx.toolCatalog = ctx.toolCatalog.filter(isOffered);
      }
      return ctx.next();
    },
    { name: 'narrow' },
  );
};

function searchTool(maxResults: number): ToolCatalogItem {
  return {
    name: SEARCH,
    description:
      'Searches for tools by what they do. In the next step you get only the tools that were found; search again to get ' +
      'others.',
    parameters: {
      type: 'object',
      additionalProperties: false,
      required: ['query'],
      properties: {
        query: {
          type: 'string',
          minLength: 1,
          maxLength: 500,
          description: 'What the tool you need should do, in a few words.',
        },
        limit: { type: 'integer', minimum: 1, maximum: maxResults, description: 'The maximum number of tools.' },
      },
    },
    annotations: { readOnly: true, idempotent: true, effects: 'none' },
  };
}

function noteOn(found: number): string {
  return found === 0
    ? 'Nothing matches; the offered tools have not changed. Try other words.'
    : 'You get these tools from the next step on.';
}

/** Returns the selected tools, or `undefined` before the first search. */
function selectedIn(state: JsonValue): string[] | undefined {
  const selectedTools = isObject(state) ? state.selectedTools : undefined;
  return Array.isArray(selectedTools) ? selectedTools.filter((name) => typeof name === 'string') : undefined;
}

function union(before: readonly string[], names: readonly string[]): string[] {
  return [...before.filter((name) => !names.includes(name)), ...names].slice(-MOST_SELECTED);
}
