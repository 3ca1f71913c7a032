/** The JSON Schema of one document of a bundle. Editors use it to complete and check documents. */
import { z } from 'zod';
import { resourceSchemas } from './resource-schemas.ts';

export function bundleJsonSchema(): object {
  const { Model, Agent, Swarm, Tool, Extension, Connector, Connection, Package } = resourceSchemas;
  const document = z
    .discriminatedUnion('kind', [Model, Agent, Swarm, Tool, Extension, Connector, Connection, Package])
    .meta({ title: 'Goondan', description: 'A document of a goondan.yaml.' });
  // Language servers for YAML support draft 7 best.
  return z.toJSONSchema(document, { io: 'input', target: 'draft-7' });
}
