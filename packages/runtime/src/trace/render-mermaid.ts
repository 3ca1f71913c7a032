/**
 * Renders turns as a Mermaid sequence diagram: the calls between agents, model and tool calls with their times, and a
 * note beside each step about its layers.
 */
import type { MiddlewareKind } from '@goondan/types';
import { childrenOf, isTurn } from './children-of.ts';
import { nameChain } from './name-chain.ts';
import { describeDuration } from './describe-duration.ts';
import { describeTokens } from './describe-tokens.ts';
import { shortLine } from './show-value.ts';
import type { ChainRecord, TurnTrace } from './turn-trace.ts';

/**
 * The label of the arrow for each kind of chain. A chain without a label has no arrow; only the chains inside it are
 * drawn.
 */
const calls: Readonly<Record<MiddlewareKind, string | undefined>> = {
  turn: undefined,
  step: undefined,
  model: 'model call',
  toolCall: 'tool call',
};

/**
 * The maximum number of arrows and notes, because a larger diagram could not be read or drawn. The last line gives the
 * number of those left out.
 */
const MOST_LINES = 400;

export function renderMermaid(turns: readonly TurnTrace[]): string {
  const diagram = new Diagram();
  for (const turn of turns) diagram.turn(turn, 'asker');
  return diagram.text();
}

class Diagram {
  readonly #participants = new Map<string, string>([['asker', 'whoever asked']]);
  /** Mermaid ids by participant. */
  readonly #ids = new Map<string, string>();
  readonly #lines: string[] = [];
  #more = 0;

  text(): string {
    const participants = Array.from(this.#participants, ([id, name]) => `  participant ${id} as ${name}`);
    const more = this.#more === 0 ? [] : [`  Note over asker: ${this.#more} more, not drawn`];
    return ['sequenceDiagram', ...participants, ...this.#lines, ...more].join('\n');
  }

  turn(turn: TurnTrace, from: string): void {
    const { agentName, instanceKey, input = '', chain, durationMs, error, truncated, ending } = turn;
    const who = this.#participant(
      `${agentName} ${instanceKey}`,
      instanceKey === 'default' ? agentName : `${agentName} (${instanceKey})`,
    );
    this.#add(`${from}->>${who}: ${plain(input) || 'an event'}`);
    this.#add(`activate ${who}`);
    this.#inside(chain, who, Date.parse(turn.startedAt));
    const answered = truncated === true ? 'answered, truncated' : 'answered';
    const end = ending === 'cancelled' ? ending : plain(error ?? answered);
    const answer = durationMs === undefined ? 'unfinished' : `${end}, ${describeDuration(durationMs)}`;
    this.#add(`${who}-${durationMs === undefined || error !== undefined ? '-x' : '->>'}${from}: ${answer}`);
    this.#add(`deactivate ${who}`);
  }

  #inside(chain: ChainRecord, who: string, turnStart: number): void {
    this.#layers(chain, who);
    for (const child of childrenOf(chain, turnStart)) {
      if (isTurn(child)) this.turn(child, who);
      else if (calls[child.kind] !== undefined) this.#call(child, who, turnStart);
      else this.#inside(child, who, turnStart);
    }
  }

  #call(chain: ChainRecord, who: string, turnStart: number): void {
    const { kind, totalMs, error, isUnfinished, tokens } = chain;
    const label = nameChain(chain);
    const what = this.#participant(`${kind} ${label}`, plain(label));
    const used = tokens === undefined ? '' : `, ${describeTokens(tokens)}`;
    this.#add(`${who}->>${what}: ${calls[kind]}`);
    this.#inside(chain, what, turnStart);
    const end = isUnfinished === true ? 'unfinished' : `${describeDuration(totalMs)}${used}`;
    this.#add(`${what}-${error === undefined ? '->>' : '-x'}${who}: ${error === undefined ? end : plain(error)}`);
  }

  /** Adds a note about the layers. Layers that changed nothing are not drawn. */
  #layers({ layers, kind, label }: ChainRecord, who: string): void {
    const busy = layers.filter(
      ({ changed, resultChanged, emitted, outcome }) =>
        changed.length + resultChanged.length + emitted.length > 0 || outcome !== 'passed',
    );
    if (busy.length === 0) return;
    const said = busy.map(({ extension, ownMs, changed, resultChanged, emitted, outcome }) => {
      const count = changed.length + resultChanged.length + emitted.length;
      const changes = count === 0 ? '' : `, ${count} ${count === 1 ? 'change' : 'changes'}`;
      return `${plain(extension)} ${describeDuration(ownMs)}${changes}${outcome === 'passed' ? '' : `, ${outcome}`}`;
    });
    this.#add(`Note over ${who}: ${kind} ${plain(label)}<br/>${said.join('<br/>')}`);
  }

  #participant(key: string, name: string): string {
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const id = `p${this.#ids.size}`;
    this.#ids.set(key, id);
    this.#participants.set(id, plain(name));
    return id;
  }

  #add(line: string): void {
    // Lines that activate and deactivate come in pairs, so they are never left out.
    if (this.#lines.length < MOST_LINES || line.includes('activate ')) this.#lines.push(`  ${line}`);
    else this.#more++;
  }
}

/** Removes characters that have a meaning in Mermaid. */
function plain(text: string): string {
  return shortLine(text.slice(0, 60))
    .replaceAll(/[#;:<>{}[\]()`"%\\|~\s]+/g, ' ')
    .trim();
}
