import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { bundleFolder, type BundleOptions } from '../common-options.ts';
import type { GdnCommand, Result } from '../gdn-command.ts';
import type { InstalledPackage } from '../package/read-package.ts';
import type { Terminal } from '../terminal.ts';
import { withInterrupt } from '../with-interrupt.ts';

type ChangeOptions = BundleOptions & { readonly trust?: boolean };

export function addPackageCommand(program: GdnCommand): void {
  const group = program
    .command('package')
    .summary('install packages of agents, tools and extensions')
    .description('A Goondan package is an npm package with a goondan.yaml. npm installs it into the bundle.')
    .examples('gdn package add @acme/tools --bundle my-swarm');

  group
    .command('add')
    .argument('<package>', 'the name, with @version if you like; or a folder, a tarball or an address, as for npm')
    .summary('install one')
    .description(
      'Installs a package with npm, at an exact version, and checks its goondan.yaml. A package with errors is ' +
        'removed again. Prints what the package offers and how to refer to it. Install scripts do not run, unless ' +
        'you add --allow-scripts.',
    )
    .option('--allow-scripts', 'let packages run their install scripts, as npm does')
    .option('--trust', trustHelp)
    .folderOption()
    .commonOptions()
    .examples('gdn package add @acme/tools --bundle my-swarm')
    .readsBundle('use')
    .runs(addOne);

  group
    .command('remove')
    .argument('<package>', 'the name of the package')
    .summary('remove one')
    .description('Removes a package with npm, unless the bundle still needs it.')
    .option('--trust', trustHelp)
    .folderOption()
    .commonOptions()
    .examples('gdn package remove @acme/tools --bundle my-swarm')
    .readsBundle('use')
    .runs(removeOne);

  group
    .command('list')
    .summary('list them')
    .description('Lists the Goondan packages of the bundle and what they offer.')
    .folderOption()
    .commonOptions()
    .examples('gdn package list --bundle my-swarm --json')
    .readsBundle('look')
    .runs(showPackages);
}

const trustHelp = 'use the .npmrc of a folder that is not trusted yet, for this command only';

async function addOne(
  options: ChangeOptions & { readonly allowScripts?: boolean },
  terminal: Terminal,
  typed: string,
): Promise<Result> {
  const [{ addPackage }, { fixSpec }, { readBundle }] = await Promise.all([
    import('../package/add-package.ts'),
    import('../package/package-spec.ts'),
    import('../bundle/open-bundle.ts'),
  ]);
  const { allowScripts = false } = options;
  const { folder } = await readBundle(bundleFolder(undefined, options));
  const spec = fixSpec(typed, realpathSync('.'));
  const isTrusted = await mayUseNpmrc(folder, options, terminal);
  const added = await withInterrupt((signal) =>
    addPackage(spec, allowScripts, { folder, isTrusted, terminal, signal }),
  );
  const { describeAddition } = await import('../package/describe-addition.ts');
  return describeAddition(added, await readBundle(folder), { typed, allowScripts });
}

async function removeOne(options: ChangeOptions, terminal: Terminal, name: string): Promise<Result> {
  const { removePackage } = await import('../package/remove-package.ts');
  const { readBundle } = await import('../bundle/open-bundle.ts');
  const shownAs = bundleFolder(undefined, options);
  const { folder } = await readBundle(shownAs);
  const isTrusted = await mayUseNpmrc(folder, options, terminal);
  await withInterrupt((signal) => removePackage(name, shownAs, { folder, isTrusted, terminal, signal }));
  return { json: { removed: true, name }, text: `Removed ${name}.\n` };
}

/**
 * Tells whether npm may use the `.npmrc` of a folder. A `.npmrc` in an untrusted folder could make npm send the
 * operator's requests to another server.
 */
async function mayUseNpmrc(folder: string, options: ChangeOptions, terminal: Terminal): Promise<boolean> {
  const [{ isTrusted }, { readableStateRoot }] = await Promise.all([
    import('@goondan/runtime/bundle'),
    import('../state-root.ts'),
  ]);
  if (options.trust === true || (await isTrusted({ stateRoot: readableStateRoot(options), folder }))) return true;
  if (existsSync(join(folder, '.npmrc'))) {
    terminal.printError(`warn: The .npmrc in "${folder}" is not used: the folder is not trusted yet. See --trust.\n`);
  }
  return false;
}

async function showPackages(options: BundleOptions, { colors }: Terminal): Promise<Result> {
  const { listPackages } = await import('../package/list-packages.ts');
  const { readBundle } = await import('../bundle/open-bundle.ts');
  const packages = await listPackages(await readBundle(bundleFolder(undefined, options)));
  const shown = packages.map(({ name, version, isUsed, bundle, resources }) => {
    const notes = [...(isUsed ? [] : ['not used']), ...(bundle.valid ? [] : ['its goondan.yaml has errors'])];
    const lines = resources.map(({ kind, name: offered }) => `  ${kind}/${offered}\n`);
    return `${colors.bold(name)} ${version}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}\n${lines.join('')}`;
  });
  return {
    json: packages.map((each) => ({ ...describePackage(each), used: each.isUsed })),
    text: shown.join('') || 'No package of Goondan is installed for this bundle.\n',
  };
}

function describePackage({ name, version, path, bundle, resources }: InstalledPackage) {
  return {
    name,
    version,
    folder: path,
    valid: bundle.valid,
    resources: resources.map((each) => `${each.kind}/${each.name}`),
  };
}
