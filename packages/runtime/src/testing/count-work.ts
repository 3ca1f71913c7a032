/**
 * Counts the work of a piece of code instead of its time: each element that a method of an array goes through, each
 * access to a map or a set, and each read of a watched object. Two runs that do the same work have the same count.
 *
 * A loop over the indexes of an array is counted only when it reads watched objects.
 */
export interface CountedWork {
  /** Elements of arrays and entries of maps and sets that were gone through or looked up. */
  readonly elements: number;
  /** Elements of arrays that were copied with `slice`, without a look at them. */
  readonly copied: number;
  /** Reads of objects made by `watched`. */
  readonly reads: number;
}

const walks = [
  'concat',
  'every',
  'filter',
  'find',
  'findIndex',
  'findLast',
  'flatMap',
  'forEach',
  'includes',
  'indexOf',
  'join',
  'map',
  'reduce',
  'some',
  'sort',
  'toSorted',
  'values',
  'entries',
  'keys',
  Symbol.iterator,
] as const;

let reads = 0;

/** Returns the object as a view that counts reads of its fields, and of the objects in them. */
export function watched<Value extends object>(value: Value): Value {
  const views = new Map<object, object>();
  const view = (target: object): object => {
    const known = views.get(target);
    if (known !== undefined) return known;
    const made = new Proxy(target, {
      get(of, key, receiver) {
        reads += 1;
        const field: unknown = Reflect.get(of, key, of === receiver ? of : undefined);
        // A frozen field must be given as it is, and a method of a Date needs the Date.
        return isPlain(field) && !Object.isFrozen(of) ? view(field) : field;
      },
    });
    views.set(target, made);
    return made;
  };
  // Safe: the view has the fields of its target.
  return view(value) as Value;
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof Date);
}

/** Runs the code, and returns the count of its work. Nothing else may run meanwhile. */
export async function countWork(run: () => Promise<unknown>): Promise<CountedWork> {
  const before = reads;
  let elements = 0;
  let copied = 0;
  const restore: (() => void)[] = [];
  const count = (owner: object, name: PropertyKey, note: (self: unknown, returned: unknown) => void) => {
    const original = Reflect.getOwnPropertyDescriptor(owner, name);
    if (typeof original?.value !== 'function') return;
    const method = original.value as (...parameters: unknown[]) => unknown;
    Object.defineProperty(owner, name, {
      ...original,
      value(this: unknown, ...parameters: unknown[]) {
        const returned = Reflect.apply(method, this, parameters);
        note(this, returned);
        return returned;
      },
    });
    restore.push(() => Object.defineProperty(owner, name, original));
  };
  const lengthOf = (value: unknown) => (Array.isArray(value) ? value.length : 0);
  count(Array.prototype, 'slice', (_, returned) => void (copied += lengthOf(returned)));
  for (const name of walks) count(Array.prototype, name, (self) => void (elements += lengthOf(self)));
  for (const owner of [Map.prototype, WeakMap.prototype, Set.prototype, WeakSet.prototype]) {
    for (const name of ['get', 'has', 'set', 'add', 'delete']) count(owner, name, () => void (elements += 1));
  }
  try {
    await run();
  } finally {
    for (const put of restore) put();
  }
  return { elements, copied, reads: reads - before };
}
