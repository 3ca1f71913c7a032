/** A recorded turn as a tree a person can read: layers nested as the onion is, own times, what each one changed. */
import type { Change } from '../json/diff-json.ts';
import type { ChainRecord, LayerRecord } from './chain-record.ts';

export interface RenderOptions {
  /** Paints a piece of the text; plain when absent. */
  readonly paint?: (style: 'kind' | 'name' | 'time' | 'change' | 'error', text: string) => string;
}

export function renderTrace(turn: ChainRecord, options: RenderOptions = {}): string {
  const paint = options.paint ?? ((_style, text) => text);
  return renderChain(turn, paint).join('\n');
}

type Paint = NonNullable<RenderOptions['paint']>;

function renderChain(chain: ChainRecord, paint: Paint): string[] {
  const title = `${paint('kind', chain.kind)} ${paint('name', chain.label)} ${paint('time', milliseconds(chain.totalMs))}`;
  const problem = chain.error === undefined ? [] : [paint('error', `✗ ${chain.error}`)];
  return [title, ...indent([...problem, ...renderLayers(chain.layers, chain, paint)])];
}

/** Each layer holds the ones inside it; the innermost holds what the core did. */
function renderLayers(layers: readonly LayerRecord[], chain: ChainRecord, paint: Paint): string[] {
  const [outermost, ...inner] = layers;
  if (outermost === undefined) return chain.inside.flatMap((inside) => renderChain(inside, paint));
  const { extension, name, kind, ownMs } = outermost;
  const title = name === kind ? extension : `${extension} · ${name}`;
  return [
    `${paint('name', title)} ${paint('time', `own ${milliseconds(ownMs)}`)}`,
    ...indent([...describeLayer(outermost, paint), ...renderLayers(inner, chain, paint)]),
  ];
}

function describeLayer(layer: LayerRecord, paint: Paint): string[] {
  return [
    ...layer.changed.map((change) => paint('change', `~ ${describeChange(change)}`)),
    ...layer.emitted.map((event) => paint('change', `+ ${event}`)),
    ...(layer.emittedMore === 0 ? [] : [paint('change', `+ ${layer.emittedMore} more`)]),
    ...layer.resultChanged.map((change) => paint('change', `← ${describeChange(change)}`)),
    ...(layer.outcome === 'short_circuit' ? [paint('change', '⊘ did not call next()')] : []),
    ...(layer.outcome === 'skipped' ? [paint('error', `skipped: ${layer.error ?? ''}`)] : []),
    ...(layer.outcome === 'failed' ? [paint('error', `✗ ${layer.error ?? ''}`)] : []),
  ];
}

function describeChange({ path, before, after }: Change): string {
  if (before === undefined) return `${path} added: ${after ?? ''}`;
  if (after === undefined) return `${path} removed`;
  return `${path}: ${before} → ${after}`;
}

function indent(lines: readonly string[]): string[] {
  return lines.map((line) => `│ ${line}`);
}

function milliseconds(duration: number): string {
  return duration < 10 ? `${duration.toFixed(2)} ms` : `${Math.round(duration)} ms`;
}
