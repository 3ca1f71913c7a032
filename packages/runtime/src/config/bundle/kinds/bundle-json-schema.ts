/** The JSON Schema of one document of a bundle, for editors: they complete and check while somebody writes. */
import { z } from 'zod';
import { resourceSchemas } from './resource-schemas.ts';

export function bundleJsonSchema(): object {
  const { Model, Agent, Swarm, Tool, Extension, Connector, Connection, Package } = resourceSchemas;
  const document = z
    .discriminatedUnion('kind', [Model, Agent, Swarm, Tool, Extension, Connector, Connection, Package])
    .meta({ title: 'Goondan', description: 'A document of a goondan.yaml.' });
  // Draft 7 is what the language servers for YAML understand best.
  return z.toJSONSchema(document, { io: 'input', target: 'draft-7' });
}
