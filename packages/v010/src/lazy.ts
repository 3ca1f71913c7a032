/** Fields whose value is made when somebody first reads it. Spreading an object reads them. */

const isMade: unique symbol = Symbol('isMade');

/** `refuse`: throws when somebody assigns the field; without it, the field may be assigned. */
export function defineLazy(target: object, key: string, make: () => unknown, refuse?: () => never): void {
  let made: { value: unknown } | undefined;
  const get = () => (made ??= { value: make() }).value;
  Object.assign(get, { [isMade]: () => made !== undefined });
  Object.defineProperty(target, key, {
    enumerable: true,
    configurable: true,
    get,
    set(value: unknown) {
      refuse?.();
      made = { value };
    },
  });
}

/** Returns true if the field is lazy, and nobody has read or assigned it. */
export function isUntouched(target: object, key: string): boolean {
  const get: unknown = Reflect.get(Object.getOwnPropertyDescriptor(target, key) ?? {}, 'get');
  if (typeof get !== 'function' || !(isMade in get)) return false;
  // Safe: only `defineLazy` knows the key.
  return !(get[isMade] as () => boolean)();
}
