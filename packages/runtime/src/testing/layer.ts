/** Extensions with one layer, which is all that most tests of the pipeline need. */
import type {
  ExtensionRegister,
  MiddlewareOptions,
  ModelMiddleware,
  StepMiddleware,
  ToolCallMiddleware,
  TurnMiddleware,
} from '@goondan/types';
import type { Tier } from '../config/declared-extension.ts';
import type { ExtensionDeclaration } from '../agent/extension/load-extension.ts';
import { extension } from './scripted-agent.ts';

interface Layers {
  readonly turn: TurnMiddleware;
  readonly step: StepMiddleware;
  readonly toolCall: ToolCallMiddleware;
  readonly model: ModelMiddleware;
}

/** Returns the `register` of an extension with this layer. The options come first, so that the layer reads as a block. */
export function layer<Kind extends keyof Layers>(kind: Kind, run: Layers[Kind]): ExtensionRegister;
export function layer<Kind extends keyof Layers>(
  kind: Kind,
  options: MiddlewareOptions,
  run: Layers[Kind],
): ExtensionRegister;
export function layer(
  kind: keyof Layers,
  ...rest: readonly (MiddlewareOptions | Layers[keyof Layers])[]
): ExtensionRegister {
  const [options] = rest.length > 1 ? rest : [];
  // The casts are safe: the signatures above allow only a layer of this kind, after its options.
  return ({ pipeline }) =>
    pipeline.register(kind as 'step', rest.at(-1) as StepMiddleware, options as MiddlewareOptions);
}

/** The name of an extension, its tier, and the options of its layer. */
export interface LayeredExtension extends MiddlewareOptions {
  readonly extension: string;
  readonly tier?: Tier;
}

/** Creates an extension with this layer. */
export function layered<Kind extends keyof Layers>(
  about: string | LayeredExtension,
  kind: Kind,
  run: Layers[Kind],
): ExtensionDeclaration {
  if (typeof about === 'string') return extension(about, layer(kind, run));
  const { extension: name, tier, ...options } = about;
  return extension(name, layer(kind, options, run), tier === undefined ? {} : { tier });
}
