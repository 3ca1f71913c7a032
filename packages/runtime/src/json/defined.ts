/** Returns an object without the properties that are `undefined`, as JSON has it. */
export function defined<T extends object>(object: T): Defined<T> {
  // Safe: the rest has exactly the properties with a value.
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<T>;
}

export type Defined<T> = {
  [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key];
} & {
  [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined>;
};
