/** The schemas of all kinds of resources, and the types derived from them. */
import type { z } from 'zod';
import { agent } from './agent.ts';
import { connection } from './connection.ts';
import { connector } from './connector.ts';
import { extension } from './extension.ts';
import { model } from './model.ts';
import { packageResource } from './package.ts';
import { swarm } from './swarm.ts';
import { tool } from './tool.ts';

export const resourceSchemas = {
  Model: model,
  Agent: agent,
  Swarm: swarm,
  Tool: tool,
  Extension: extension,
  Connector: connector,
  Connection: connection,
  Package: packageResource,
} as const;

export type ResourceKind = keyof typeof resourceSchemas;
/** A resource as it is written in a document: of the given kind, or of any kind. */
export type ResourceOf<Kind extends ResourceKind = ResourceKind> = z.output<(typeof resourceSchemas)[Kind]>;
