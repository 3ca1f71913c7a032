/**
 * Lists the simple mutants of a module: one small change of one place each. A change that TypeScript would refuse is a
 * mutant as well, because Bun does not check types.
 *
 * The key of a mutant is the name of its function, the operator and the changed source, without white space and
 * comments. So a mutant stays the same when its code moves to another file or line.
 */
import { type Expression, type Node, type SourceFile, SyntaxKind } from 'typescript/unstable/ast';
import {
  isBinaryExpression,
  isConditionalExpression,
  isExpressionStatement,
  isForStatement,
  isIfStatement,
  isJsxAttribute,
  isPostfixUnaryExpression,
  isPrefixUnaryExpression,
  isReturnStatement,
  isStringLiteral,
  isTypeNode,
} from 'typescript/unstable/ast/is';

export interface Mutant {
  readonly key: string;
  readonly line: number;
  /** The changed characters of the module. */
  readonly from: number;
  readonly to: number;
  readonly replacement: string;
}

export function listMutants(tree: SourceFile): Mutant[] {
  const mutants: Mutant[] = [];
  const visit = (node: Node, parent: Node, names: readonly string[]): void => {
    if (hasNoEffect(node)) return;
    const [from, to] = [node.getStart(tree), node.end];
    for (const { operator, source, replacement } of mutate(node, parent, (each) => each.getText(tree))) {
      const line = tree.text.slice(0, from).split('\n').length;
      const key = `${names.join('.')} ${operator} ${normalise(source)}`;
      mutants.push({ key, line, from, to, replacement });
    }
    const inner = [...names, ...nameOf(node, tree)];
    node.forEachChild((child) => visit(child, node, inner));
  };
  tree.forEachChild((child) => visit(child, tree, []));
  return mutants;
}

/** Applies a mutant to the text of its module. */
export function applyMutant(text: string, { from, to, replacement }: Mutant): string {
  return text.slice(0, from) + replacement + text.slice(to);
}

/** Types and imports do nothing at run time. */
function hasNoEffect(node: Node): boolean {
  return isTypeNode(node) || withoutEffect.has(node.kind);
}

const withoutEffect: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.InterfaceDeclaration,
  SyntaxKind.TypeAliasDeclaration,
  SyntaxKind.ImportDeclaration,
  SyntaxKind.ExportDeclaration,
]);

const naming: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.ClassDeclaration,
  SyntaxKind.FunctionDeclaration,
  SyntaxKind.MethodDeclaration,
  SyntaxKind.GetAccessor,
  SyntaxKind.SetAccessor,
  SyntaxKind.PropertyDeclaration,
  SyntaxKind.VariableDeclaration,
]);

function nameOf(node: Node, tree: SourceFile): string[] {
  if (!naming.has(node.kind) || !('name' in node)) return [];
  // Safe: the name of each of these kinds is a node. A pattern (`const { a } = b`) is not a name.
  const name = (node.name as Node | undefined)?.getText(tree) ?? '';
  return /^[#\w$]+$/.test(name) ? [name] : [];
}

/** Removes what the formatter decides, and the end of a long text. */
function normalise(source: string): string {
  return source
    .replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, '')
    .replaceAll(/\s/g, '')
    .replaceAll(/,(?=[)\]}])/g, '')
    .slice(0, 120);
}

interface Change {
  readonly operator: string;
  /** The source that identifies the change. */
  readonly source: string;
  readonly replacement: string;
}

/** Returns the changes of a node itself, without those of its children. */
function mutate(node: Node, parent: Node, text: (node: Node) => string): Change[] {
  const whole = text(node);
  const change = (operator: string, replacement: string, source = whole) => [{ operator, source, replacement }];
  const negated = isCondition(node, parent) ? change('negate', `!(${whole})`) : [];
  if (isIfStatement(node)) return node.elseStatement ? [] : change('remove if', ';', text(node.expression));
  if (isExpressionStatement(node)) return isNeeded(node.expression) ? [] : change('remove', ';');
  if (isReturnStatement(node) || removed.has(node.kind)) return change('remove', ';');
  if (isBinaryExpression(node)) {
    const sign = text(node.operatorToken);
    const other = otherSigns[sign];
    // To negate an equality is the same as to change its sign.
    if (negated.length > 0 && /^[!=]==$/.test(sign)) return negated;
    if (other === undefined || (sign === '+' && hasText(node))) return negated;
    return [...negated, ...change(sign, `((${text(node.left)}) ${other} (${text(node.right)}))`)];
  }
  if (isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken && negated.length === 0) {
    return change('!', `(${text(node.operand)})`);
  }
  if ((isPrefixUnaryExpression(node) || isPostfixUnaryExpression(node)) && !isForStatement(parent)) {
    const swapped = whole.replace(/^(?:\+\+|--)|(?:\+\+|--)$/, (sign) => (sign === '++' ? '--' : '++'));
    return swapped === whole ? negated : [...negated, ...change('++', swapped)];
  }
  return [...negated, ...mutateConstant(node, parent, whole).flatMap((other) => change('constant', other))];
}

const removed: ReadonlySet<SyntaxKind> = new Set([SyntaxKind.ThrowStatement, SyntaxKind.ContinueStatement]);

const otherSigns: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '&&': '||',
  '||': '&&',
  '??': '&&',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '+=': '-=',
  '-=': '+=',
};

/** A loop whose condition is negated often does not end, so these conditions are left alone. */
function isCondition(node: Node, parent: Node): boolean {
  return (
    (isIfStatement(parent) && parent.expression === node) ||
    (isConditionalExpression(parent) && parent.condition === node)
  );
}

/** Without `super()`, no object could be made. */
function isNeeded(expression: Expression): boolean {
  let first = true;
  let isSuper = false;
  expression.forEachChild((child) => {
    isSuper ||= first && child.kind === SyntaxKind.SuperKeyword;
    first = false;
  });
  return isSuper;
}

/** Tells whether a sum joins texts. */
function hasText(node: Node): boolean {
  if (isStringLiteral(node) || texts.has(node.kind)) return true;
  return isBinaryExpression(node) && (hasText(node.left) || hasText(node.right));
}

const texts: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.TemplateExpression,
  SyntaxKind.NoSubstitutionTemplateLiteral,
]);

function mutateConstant(node: Node, parent: Node, whole: string): string[] {
  const isName = ['name', 'propertyName'].some((field) => Reflect.get(parent, field) === node);
  if (isName || isJsxAttribute(parent)) return [];
  if (node.kind === SyntaxKind.TrueKeyword) return ['false'];
  if (node.kind === SyntaxKind.FalseKeyword) return ['true'];
  if (node.kind === SyntaxKind.NumericLiteral) return [`(${whole} + 1)`];
  // A text of several words is for people; its wording is in snapshots. The name of a module would only not be found.
  if (!isStringLiteral(node) || /\s|\.tsx?.$/.test(whole)) return [];
  return [`${whole.slice(0, -1)}~${whole.at(-1)}`];
}
