import { describe, expect, test } from 'bun:test';
import type { ExtensionResource } from '@goondan/types';
import { checkExtensionResource } from './check-extension-resource.ts';

const whole: ExtensionResource = {
  apiVersion: 'goondan.ai/v1',
  kind: 'Extension',
  metadata: { name: 'logging', labels: { tier: 'base' } },
  spec: { entry: './index.ts', config: { level: 'debug' }, configSchema: { type: 'object' } },
};

describe('an Extension resource', () => {
  test('X-16 has apiVersion, kind, metadata, spec.entry and spec.config', () => {
    expect(checkExtensionResource(whole)).toEqual(whole);
  });

  test('X-16 needs neither labels nor config', () => {
    const smallest: ExtensionResource = { ...whole, metadata: { name: 'logging' }, spec: { entry: './index.ts' } };
    expect(checkExtensionResource(smallest)).toEqual(smallest);
  });

  test.each(['goondan.ai/v2', 'goondan.ai/v1alpha1', 'agents.example.io/v1', undefined, 1])(
    'X-06 apiVersion %p is another version: E_EXT_COMPAT',
    (apiVersion) => {
      expect(() => checkExtensionResource({ ...whole, apiVersion })).toThrow(
        expect.objectContaining({
          code: 'E_EXT_COMPAT',
          message: `Extension/logging declares apiVersion "${String(apiVersion)}"; this runtime speaks goondan.ai/v1.`,
          suggestion: 'Set apiVersion: goondan.ai/v1.',
        }),
      );
    },
  );

  test.each(['node', 'bun', undefined])(
    'X-16 a runtime field is rejected with a hint, even with the value %p',
    (runtime) => {
      expect(() => checkExtensionResource({ ...whole, spec: { ...whole.spec, runtime } })).toThrow(
        expect.objectContaining({
          code: 'E_EXT_COMPAT',
          message: 'Extension/logging: spec.runtime no longer exists.',
          suggestion: 'Remove the field: extensions always run on Bun.',
        }),
      );
    },
  );

  test.each<[string, unknown]>([
    ['an Extension: kind must be "Extension"', undefined],
    ['an Extension: kind must be "Extension"', 'Extension'],
    ['an Extension: kind must be "Extension"', { ...whole, kind: 'Tool' }],
    ['an Extension: metadata.name must match', { ...whole, metadata: undefined }],
    ['an Extension: metadata.name must match', { ...whole, metadata: { name: '' } }],
    ['an Extension: metadata.name must match', { ...whole, metadata: { name: 'log_ging' } }],
    ['an Extension: metadata.name must match', { ...whole, metadata: { name: '../logging' } }],
    ['an Extension: metadata.name must match', { ...whole, metadata: { name: 'a'.repeat(64) } }],
    ['an Extension: metadata.name must match', { ...whole, metadata: { name: 'logging\n' } }],
    ['Extension/logging: spec is missing', { ...whole, spec: undefined }],
    ['Extension/logging: spec.compat must be "v010"', { ...whole, spec: { ...whole.spec, compat: 'v0.10' } }],
    ['Extension/logging: spec.entry must be a path', { ...whole, spec: {} }],
    ['Extension/logging: spec.entry must be a path', { ...whole, spec: { entry: '' } }],
    ['Extension/logging: spec.entry must be a path', { ...whole, spec: { entry: ['./index.ts'] } }],
    ['Extension/logging: spec.config must be an object', { ...whole, spec: { entry: 'a.ts', config: 'debug' } }],
    ['Extension/logging: spec.config must be an object', { ...whole, spec: { entry: 'a.ts', config: [] } }],
    ['Extension/logging: spec.configSchema must be', { ...whole, spec: { entry: 'a.ts', configSchema: true } }],
  ])('X-16 is rejected by name: %s', (message, resource) => {
    expect(() => checkExtensionResource(resource)).toThrow(
      expect.objectContaining({ code: 'E_RESOURCE_INVALID', message: expect.stringContaining(message) }),
    );
  });
});
