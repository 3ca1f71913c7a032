/** Describes an added package: its resources, how to refer to them, and what is left to do by hand. */
import type { Bundle } from '@goondan/runtime/bundle';
import { quoteForShell } from '../quote-for-shell.ts';
import type { addPackage } from './add-package.ts';
import { referenceText } from './read-package.ts';

/** `bundle`: the bundle that the package was added to. `typed`: the package as the person typed it. */
export function describeAddition(
  { name, version, resources, heldBack }: Awaited<ReturnType<typeof addPackage>>,
  bundle: Bundle,
  { typed, allowScripts }: { readonly typed: string; readonly allowScripts: boolean },
) {
  const offers = resources.map((each) => ({ ...each, identity: `${each.kind}/${each.name}` }));
  const widest = Math.max(0, ...offers.map(({ identity }) => identity.length));
  const look = `Look at them first; \`gdn package add ${quoteForShell(typed)} --allow-scripts\` runs them.`;
  const lines = [
    `Added ${name} ${version}.${allowScripts ? '' : ' No script of a package was run.'}`,
    ...(heldBack.length === 0 ? [] : [`The install scripts of ${heldBack.join(', ')} were not run. ${look}`]),
    ...(offers.length === 0 ? ['It has no resources to refer to.'] : ['It offers:']),
    ...offers.map((each) => `  ${each.identity.padEnd(widest)}  ${referenceText(each, name)}`),
    ...(offers.length === 0
      ? []
      : ['Put the text in braces where the reference belongs, such as in `tools` of an agent.']),
    ...listedBy(bundle, name, version),
  ];
  return {
    text: `${lines.join('\n')}\n`,
    json: {
      name,
      version,
      scripts: allowScripts ? 'allowed' : 'not-run',
      heldBack,
      resources: offers.map(({ kind, name: offered, identity }) => ({
        resource: identity,
        reference: { kind, name: offered, package: name },
      })),
    },
  };
}

/**
 * If the bundle is itself a package, suggests a line for its list of dependencies. The file that contains the list
 * belongs to its author, so `gdn` does not change it.
 */
function listedBy({ scope }: Bundle, name: string, version: string): string[] {
  return scope.resources.flatMap((loaded) => {
    if (loaded.kind !== 'Package') return [];
    const { dependencies = [] } = loaded.resource.spec;
    if (dependencies.some((each) => each.name === name && each.version === version)) return [];
    const { file, line } = loaded.document.placeOf(['spec', 'dependencies']);
    const entry = `{ name: '${name}', version: '${version}' }`;
    return [`${loaded.identity} lists what it needs (${file}:${line}). Add to its dependencies: ${entry}`];
  });
}
