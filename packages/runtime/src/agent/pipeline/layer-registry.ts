/**
 * Stores the layers that extensions register, and returns them in order. Each part of an agent has a registry of its
 * own. The registry of the agent shows those of the parts in place.
 */
import { GoondanError, type MiddlewareKind, type MiddlewareOptions } from '@goondan/types';
import type { Tier } from '../../config/declared-extension.ts';
import { findUnknownField, knownFields } from '../../config/find-unknown-field.ts';
import { isMiddlewareKind, middlewareKinds } from '../../ports/middleware-kinds.ts';
import { type Layer, sortLayers } from './layer.ts';
import { problemWithBudgets } from './problem-with-budgets.ts';

const noLayers: readonly Layer[] = [];

export class LayerRegistry {
  private registered: Layer[] = [];
  private sorted: Partial<Record<MiddlewareKind, readonly Layer[]>> | undefined;
  /** The warnings that were given; see `isFirst`. */
  private readonly warned = new Set<string>();

  /** `markerFor`: makes the function with which layers of a kind note that they run. */
  constructor(private readonly markerFor?: (kind: MiddlewareKind) => () => void) {}

  add(extension: string, tier: Tier, kind: unknown, run: unknown, options: MiddlewareOptions = {}): void {
    if (!isMiddlewareKind(kind)) {
      throw new GoondanError(
        'E_PIPELINE_KIND',
        `Extension "${extension}" registered a middleware of kind "${String(kind)}". The kinds are ${middlewareKinds.join(', ')}.`,
      );
    }
    if (typeof run !== 'function') {
      throw new GoondanError(
        'E_PIPELINE_OPTIONS',
        `Extension "${extension}": the ${kind} middleware is not a function.`,
      );
    }
    const problem = problemWithOptions(options, kind);
    if (problem !== undefined) {
      throw new GoondanError('E_PIPELINE_OPTIONS', `Extension "${extension}", ${kind} middleware: ${problem}.`);
    }
    this.registered.push({
      kind,
      extension,
      name: options.name ?? (run.name === '' ? kind : run.name),
      tier,
      priority: options.priority ?? 0,
      // Safe: the onion checks what the function returns.
      run: run as Layer['run'],
      mark: this.markerFor?.(kind),
      mayShortCircuit: options.mayShortCircuit ?? false,
      timeoutMs: options.timeoutMs,
      onError: options.onError ?? 'fail',
      buffers: options.buffers ?? false,
      ...(options.budgets && { budgets: structuredClone([...options.budgets]) }),
    });
    this.sorted = undefined;
  }

  /** Shows the layers of these parts, in this order, and no others. */
  show(parts: readonly LayerRegistry[]): void {
    this.registered = parts.flatMap(({ registered }) => registered);
    this.sorted = undefined;
    this.warned.clear();
  }

  /** Returns true if the warning about this layer was not given yet since the last `show`. */
  isFirst(warning: string, { kind, extension, name }: Layer): boolean {
    const key = JSON.stringify([warning, kind, extension, name]);
    if (this.warned.has(key)) return false;
    this.warned.add(key);
    return true;
  }

  /** Returns the layers of one kind, outermost first. */
  of(kind: MiddlewareKind): readonly Layer[] {
    this.sorted ??= Object.groupBy(sortLayers(this.registered), (layer) => layer.kind);
    return this.sorted[kind] ?? noLayers;
  }
}

function problemWithOptions(options: unknown, kind: MiddlewareKind): string | undefined {
  if (typeof options !== 'object' || options === null) return 'the options are not an object';
  const unknown = findUnknownField(options, optionFields);
  if (unknown !== undefined) return unknown;
  const { priority, name, mayShortCircuit, timeoutMs, onError, buffers, budgets } = options as Record<string, unknown>;
  if (priority !== undefined && !Number.isFinite(priority)) return 'priority is not a number';
  if (name !== undefined && (typeof name !== 'string' || name === '')) return 'name is not a text';
  if (mayShortCircuit !== undefined && typeof mayShortCircuit !== 'boolean') return 'mayShortCircuit is not a boolean';
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs > 0)) return 'timeoutMs is not above 0';
  if (onError !== undefined && onError !== 'fail' && onError !== 'skip') return 'onError is neither fail nor skip';
  if (buffers !== undefined && typeof buffers !== 'boolean') return 'buffers is not a boolean';
  if (budgets !== undefined && kind !== 'model') return 'only a model layer has budgets';
  return budgets === undefined ? undefined : problemWithBudgets(budgets);
}

const optionFields = knownFields<MiddlewareOptions>(
  'the options object',
  { priority: true, name: true, mayShortCircuit: true, timeoutMs: true, onError: true, buffers: true, budgets: true },
  { order: 'priority', timeout: 'timeoutMs' },
);
