import type { DeclaredExtension } from '../../config/declared-extension.ts';
import type { DeclaredTool } from '../../config/declared-tool.ts';
import { declarationDigest, filesToRefresh, identityOf } from '../../config/reconcile-agent.ts';
import type { PartDeclaration, WantedParts } from './agent-part.ts';

/**
 * Finds the running part that each wanted declaration retains: one with the same identity and the same declaration. A
 * part is retained once, and its position does not count. Returns `undefined` for a part that must be loaded.
 */
export function matchParts<Part extends { readonly declaration: PartDeclaration }>(
  running: readonly Part[],
  wanted: readonly PartDeclaration[],
): (Part | undefined)[] {
  const free = Map.groupBy(running, ({ declaration }) => identityOf(declaredPart(declaration)));
  return wanted.map((declaration) => {
    const candidates = free.get(identityOf(declaredPart(declaration))) ?? [];
    const index = candidates.findIndex((part) => isSameDeclaration(part.declaration, declaration));
    return index < 0 ? undefined : candidates.splice(index, 1)[0];
  });
}

function isSameDeclaration(one: PartDeclaration, other: PartDeclaration): boolean {
  if (one === other) return true;
  const [first, second] = [codeOf(one), codeOf(other)];
  if (first.some((code, index) => code !== second[index])) return false;
  return declarationDigest(declaredPart(one)) === declarationDigest(declaredPart(other));
}

/** Returns the code that a program passes in. It is compared by reference, because it has no digest. */
function codeOf(declaration: PartDeclaration): readonly unknown[] {
  if ('resource' in declaration) return [declaration.module];
  return [declaration.handlers, declaration.instead, declaration.isPatient];
}

/** Lists the files of the bundle that a change to the wanted parts imports anew. */
export function filesOfChange(
  running: readonly { readonly declaration: PartDeclaration }[],
  { tools, extensions }: WantedParts,
): readonly string[] {
  const before = declaredParts(running.map(({ declaration }) => declaration));
  return filesToRefresh(before, declaredParts([...tools, ...extensions]));
}

/** Returns the declarations as a plan in JSON has them. */
export function declaredParts(declarations: readonly PartDeclaration[]) {
  const parts = declarations.map(declaredPart);
  return {
    extensions: parts.flatMap((part) => ('resource' in part ? [part] : [])),
    tools: parts.flatMap((part) => ('resource' in part ? [] : [part])),
  };
}

/** Returns the declaration without the code that a program passes in: the rest is JSON. */
function declaredPart(declaration: PartDeclaration): DeclaredExtension | DeclaredTool {
  if ('resource' in declaration) {
    const { module: _, ...declared } = declaration;
    return declared;
  }
  const { handlers: _, instead: _instead, isPatient: _isPatient, root = '', entry = '', ...declared } = declaration;
  return { ...declared, root, entry };
}
