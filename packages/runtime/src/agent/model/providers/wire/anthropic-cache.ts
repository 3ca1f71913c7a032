/**
 * Anthropic's prompt cache, as its server counts it: a mark keeps the prompt up to its block, and a request reads the
 * longest prefix that an earlier mark kept, found at its own marks or up to 20 blocks before them. For tests only.
 */
import type { JsonObject, JsonValue } from '@goondan/types';
import { sha256 } from '../../../../json/sha256.ts';
import type { WireReply } from './wire-dialect.ts';

const MOST_MARKS = 4;
const LOOKBACK = 20;
const LETTERS_OF_A_TOKEN = 4;

interface Block {
  readonly text: string;
  readonly isMarked: boolean;
}

export class AnthropicCache {
  /** The digests of the kept prefixes. */
  readonly #kept = new Set<string>();

  constructor(private readonly leastTokens = 1_024) {}

  /** Counts the tokens of a request. Throws for a request with too many marks, as the server answers 400. */
  count(body: JsonObject): Pick<WireReply['usage'], 'input' | 'cached' | 'written'> {
    const blocks = blocksOf(body);
    const marks = blocks.flatMap(({ isMarked }, at) => (isMarked ? [at] : []));
    if (marks.length > MOST_MARKS) throw new Error(`${marks.length} blocks with cache_control; at most ${MOST_MARKS}`);
    const prefixes = prefixesOf(blocks);
    const tokensAt = (at: number) => prefixes[at]?.tokens ?? 0;
    const usable = marks.filter((at) => tokensAt(at) >= this.leastTokens);
    const found = usable.flatMap((mark) => this.#lookBack(prefixes, mark));
    const cached = tokensAt(Math.max(-1, ...found));
    const written = Math.max(0, tokensAt(usable.at(-1) ?? -1) - cached);
    for (const at of usable) this.#kept.add(prefixes[at]?.digest ?? '');
    return { input: tokensAt(blocks.length - 1), cached, written };
  }

  /** Forgets everything, as the server does after five minutes. */
  expire(): void {
    this.#kept.clear();
  }

  #lookBack(prefixes: readonly { readonly digest: string }[], mark: number): number[] {
    for (let at = mark; at >= Math.max(0, mark - LOOKBACK); at--) {
      if (this.#kept.has(prefixes[at]?.digest ?? '')) return [at];
    }
    return [];
  }
}

/** Returns the blocks in the order in which the server caches them. */
function blocksOf({ model, tools, system, messages, thinking }: JsonObject): Block[] {
  const blocks = (values: JsonValue | undefined, about: JsonValue) =>
    (Array.isArray(values) ? values : []).map((value) => blockOf(value, about));
  return [
    ...blocks(tools, [model ?? null, 'tool']),
    ...blocks(system, 'system'),
    ...(Array.isArray(messages) ? messages : []).flatMap((message) => {
      const { role = null, content = null } = isObject(message) ? message : {};
      return blocks(content, [role, thinking ?? null]);
    }),
  ];
}

function blockOf(value: JsonValue, about: JsonValue): Block {
  const { cache_control: mark, ...rest } = isObject(value) ? value : { text: value };
  return { text: JSON.stringify([about, rest]), isMarked: mark !== undefined };
}

function prefixesOf(blocks: readonly Block[]): { readonly digest: string; readonly tokens: number }[] {
  let digest = '';
  let tokens = 0;
  return blocks.map(({ text }) => {
    digest = sha256(digest + text);
    tokens += Math.ceil(text.length / LETTERS_OF_A_TOKEN);
    return { digest, tokens };
  });
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
