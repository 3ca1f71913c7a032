/** Returns a copy of the object without the properties that are `undefined`. */
export function defined<T extends object>(object: T): Defined<T> {
  const kept: Partial<T> = {};
  // Safe: these are the object's own keys. A loop, because this runs for every event of a long history, and a list of
  // entries takes five times as long.
  for (const key of Object.keys(object) as (keyof T)[]) {
    if (object[key] !== undefined) kept[key] = object[key];
  }
  // Safe: the result has exactly the properties that have a value.
  return kept as unknown as Defined<T>;
}

export type Defined<T> = {
  [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key];
} & {
  [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined>;
};
