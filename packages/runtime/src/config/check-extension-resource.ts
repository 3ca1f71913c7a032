/** Checks an Extension resource before any of its code is loaded. */
import { type ExtensionResource, GoondanError } from '@goondan/types';
import { isPlainObject } from '../json/copy-json.ts';
import { API_VERSION } from './api-version.ts';
import { resourceNamePattern } from './resource-name.ts';

export function checkExtensionResource(resource: unknown): ExtensionResource {
  if (!isPlainObject(resource) || resource.kind !== 'Extension')
    throw invalid('an Extension', 'kind must be "Extension"');
  const { metadata, spec } = resource;
  const name = isPlainObject(metadata) ? metadata.name : undefined;
  if (typeof name !== 'string' || !resourceNamePattern.test(name)) {
    throw invalid('an Extension', `metadata.name must match ${resourceNamePattern.source}`);
  }
  const what = `Extension/${name}`;
  if (resource.apiVersion !== API_VERSION) {
    throw new GoondanError(
      'E_EXT_COMPAT',
      `${what} declares apiVersion "${String(resource.apiVersion)}"; this runtime speaks ${API_VERSION}.`,
      { suggestion: `Set apiVersion: ${API_VERSION}.` },
    );
  }
  if (!isPlainObject(spec)) throw invalid(what, 'spec is missing');
  if ('runtime' in spec) {
    throw new GoondanError('E_EXT_COMPAT', `${what}: spec.runtime no longer exists.`, {
      suggestion: 'Remove the field: extensions always run on Bun.',
    });
  }
  if (typeof spec.entry !== 'string' || spec.entry === '') throw invalid(what, 'spec.entry must be a path');
  if (spec.config !== undefined && !isPlainObject(spec.config)) throw invalid(what, 'spec.config must be an object');
  if (spec.configSchema !== undefined && !isPlainObject(spec.configSchema)) {
    throw invalid(what, 'spec.configSchema must be a JSON Schema object');
  }
  if (spec.compat !== undefined && spec.compat !== 'v010') throw invalid(what, 'spec.compat must be "v010"');
  // Safe: every field that the runtime reads was checked above.
  return resource as unknown as ExtensionResource;
}

function invalid(what: string, problem: string): GoondanError {
  return new GoondanError('E_RESOURCE_INVALID', `${what}: ${problem}.`);
}
