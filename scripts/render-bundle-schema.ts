// Renders the JSON Schema of bundles, for editors. It is generated from the schemas that check bundles, so that editors
// and `gdn validate` agree.
import { join } from 'node:path';
import { bundleJsonSchema } from '../packages/runtime/src/config/bundle/kinds/bundle-json-schema.ts';

export const bundleSchemaFile = join(import.meta.dir, '..', 'packages/runtime/schema/goondan.schema.json');

export function renderBundleSchema(): string {
  return `${JSON.stringify(bundleJsonSchema(), null, 2)}\n`;
}
