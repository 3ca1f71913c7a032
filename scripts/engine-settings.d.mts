export const engineSettings: Readonly<Record<string, string>>;
export const testFlags: readonly string[];
