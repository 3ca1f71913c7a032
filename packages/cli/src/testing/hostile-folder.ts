/** For tests: a folder that was made to do harm. Every part that can run writes a mark when it runs. */
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { GdnPlace } from './gdn-place.ts';
import { sampleBundle } from './sample-bundle.ts';

export interface HostileFolder {
  readonly folder: string;
  /** Returns the names of the parts that ran since the last call. */
  readonly takeMarks: () => string[];
}

/** The names of the programs around `gdn`, and of its own dependencies. */
export const plantedPrograms = ['gdn', 'bun', 'node', 'git', 'npm', 'bwrap', 'sh'] as const;
const plantedPackages = ['@goondan/runtime', '@goondan/types', 'commander', 'yaml'];

/**
 * Creates the folder. With `invalid`, it contains every mistake that `gdn validate` must report; with `armed`, it
 * contains valid YAML.
 */
export async function plantHostileFolder(place: GdnPlace, kind: 'invalid' | 'armed'): Promise<HostileFolder> {
  const marks = join(place.folder, `marks-of-${kind}`);
  mkdirSync(marks);
  const module = (name: string) => `require('node:fs').writeFileSync(${JSON.stringify(join(marks, name))}, '');\n`;
  const program = (name: string) => `#!/bin/sh\n: > '${join(marks, name)}'\n`;
  const folder = await place.write(kind, {
    ...around(module, program),
    ...(kind === 'armed' ? armed : invalid)(module),
  });
  await place.write(`outside-${kind}`, { 'x.ts': module('outside'), 'tsconfig.json': '{}' });
  const paths = [...plantedPrograms.map((name) => `node_modules/.bin/${name}`), 'gdn', 'npm-shell'];
  for (const path of [...paths, ...hooks.map((name) => `.git/hooks/${name}`)]) chmodSync(join(folder, path), 0o755);
  if (kind === 'invalid') symlinkSync('../outside-invalid/x.ts', join(folder, 'link.ts'));
  return { folder, takeMarks };

  function takeMarks(): string[] {
    const found = existsSync(marks) ? readdirSync(marks).toSorted() : ['nothing could be marked'];
    rmSync(marks, { recursive: true, force: true });
    mkdirSync(marks);
    return found;
  }
}

type Write = (name: string) => string;

/** Returns files that Bun, npm, git and shells look for in a folder. */
function around(module: Write, program: Write): Record<string, string> {
  const packages = plantedPackages.flatMap((name) => [
    [`node_modules/${name}/package.json`, JSON.stringify({ name, main: 'index.js' })],
    [`node_modules/${name}/index.js`, module('package')],
  ]);
  return {
    'bunfig.toml': 'preload = ["./preload.ts"]\n',
    'preload.ts': module('preload'),
    '.env': 'ANTHROPIC_BASE_URL=http://127.0.0.1:9\nPATH=./node_modules/.bin\nBUN_OPTIONS=--preload=./preload.ts\n',
    'tsconfig.json': JSON.stringify({
      extends: '../outside-invalid/tsconfig.json',
      compilerOptions: { paths: { '/*': ['./mapped.ts'] } },
    }),
    'mapped.ts': module('tsconfig-paths'),
    'package.json': JSON.stringify({
      name: 'hostile',
      scripts: { gdn: './gdn', preinstall: './gdn', postinstall: './gdn', prepare: './gdn' },
      imports: { '#*': './mapped.ts', commander: './mapped.ts' },
      exports: './mapped.ts',
      dependencies: { 'not-installed-anywhere': '*' },
    }),
    '.npmrc': 'script-shell=./npm-shell\ngit=./gdn\n',
    '.mcp.json': JSON.stringify({ mcpServers: { server: { command: './gdn' } } }),
    'npm-shell': program('npm-shell'),
    'bun.lock': '{ "lockfileVersion": 1, "nonsense',
    gdn: program('gdn'),
    'gdn.ts': module('gdn.ts'),
    ...Object.fromEntries(plantedPrograms.map((name) => [`node_modules/.bin/${name}`, program(`bin-${name}`)])),
    ...Object.fromEntries(packages),
    '.git/config': `[core]\n\trepositoryformatversion = 0\n\tfsmonitor = ./gdn\n`,
    ...Object.fromEntries(hooks.map((name) => [`.git/hooks/${name}`, program(`hook-${name}`)])),
  };
}

const hooks = ['post-commit', 'post-index-change', 'prepare-commit-msg', 'reference-transaction'];

/** Adds a macro, which Bun would run while it reads the module. */
function entryWithMacro(module: Write): Record<string, string> {
  const macro = module('macro').replace(`require('node:fs')`, 'fs').trimEnd();
  return {
    'macro.ts': `import * as fs from 'node:fs';\nexport function expand() { ${macro} return 0; }\n`,
    'entry.ts': `import { expand } from './macro.ts' with { type: 'macro' };
export const register = () => void expand();
${module('entry')}`,
  };
}

function armed(module: Write): Record<string, string> {
  const agent = 'extensions: [Extension/entry]\ntools: [Tool/tool]';
  const more = [
    'kind: Extension\nmetadata: { name: entry }\nspec: { entry: ./entry.ts }',
    'kind: Tool\nmetadata: { name: tool }\nspec: { entry: ./tool.ts, exports: [{ name: use, description: A tool. }] }',
  ];
  return {
    'goondan.yaml': sampleBundle({ agent, more: more.join('\n---\napiVersion: goondan.ai/v1\n') }),
    ...entryWithMacro(module),
    'tool.ts': `${module('tool')}export const handlers = { use: () => ({}) };\n`,
  };
}

const bundleOf = (name: string, spec: string) =>
  `apiVersion: goondan.ai/v1\nkind: Extension\nmetadata: { name: ${name} }\nspec: ${spec}\n`;

function invalid(module: Write): Record<string, string> {
  const entries = { up: '../outside-invalid/x.ts', link: './link.ts', missing: './missing.ts', fine: './entry.ts' };
  // Each list contains the list before it nine times, so the last one has 9^9 values.
  const bomb = Array.from({ length: 9 }, (_, level) => `a${level + 1}: &a${level + 1} [${`*a${level}, `.repeat(9)}]\n`);
  return {
    'goondan.yaml': Object.entries(entries)
      .map(([name, entry]) => bundleOf(name, `{ entry: ${entry} }`))
      .join('---\n'),
    ...entryWithMacro(module),
    'missing.ts': `import 'not-installed-anywhere';\n${module('missing')}`,
    'bomb.yaml': `a0: &a0 [x]\n${bomb.join('')}`,
    'deep.yaml': '['.repeat(100_000),
    'proto.yaml': bundleOf('proto', '\n  entry: ./entry.ts\n  __proto__: { polluted: true }'),
  };
}
