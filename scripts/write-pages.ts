// `npm run write`: writes all generated files: the error codes, the references, the table of operations, and the schema
// for editors. A test of each fails when it is stale.
import { errorCatalogue } from '@goondan/types';
import { bundleSchemaFile, renderBundleSchema } from './render-bundle-schema.ts';
import { cliReferencePage, renderCliReference } from './render-cli-reference.ts';
import { configurationReferencePage, renderConfigurationReference } from './render-configuration-reference.ts';
import { controlPage, renderControlPage } from './render-control-page.ts';
import { errorsPage, renderErrorsPage } from './render-errors-page.ts';

await Bun.write(errorsPage, renderErrorsPage(errorCatalogue));
await Bun.write(cliReferencePage, renderCliReference());
await Bun.write(configurationReferencePage, renderConfigurationReference());
await Bun.write(controlPage, renderControlPage(await Bun.file(controlPage).text()));
await Bun.write(bundleSchemaFile, renderBundleSchema());
