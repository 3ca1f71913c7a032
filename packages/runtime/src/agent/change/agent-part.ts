/** A loaded part of an agent: an extension or a tool, with everything that it registered. */
import type { ExtensionPart } from '../extension/extension-part.ts';
import type { ExtensionDeclaration } from '../extension/load-extension.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';
import type { ToolRegistry } from '../tool/tool-registry.ts';

export type PartDeclaration = ExtensionDeclaration | ToolDeclaration;

export interface AgentPart {
  readonly declaration: PartDeclaration;
  readonly tools: ToolRegistry;
  /** Undefined for a tool. */
  readonly extension: ExtensionPart | undefined;
}

/** The parts that a plan declares, in order. */
export interface WantedParts {
  readonly tools: readonly ToolDeclaration[];
  readonly extensions: readonly ExtensionDeclaration[];
}
