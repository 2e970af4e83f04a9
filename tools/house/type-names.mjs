const EXPORTED = /^export (?:declare )?(?:abstract )?(?:interface|type|class|enum) (\w+)/;

/** An exported type name may exist once. Specs are exempt. */
export function typeNameFaults(code) {
  const files = new Map();
  for (const { path, lines } of code) {
    for (const [, name] of lines.map((line) => EXPORTED.exec(line) ?? [])) {
      if (name !== undefined) files.set(name, new Set(files.get(name)).add(path));
    }
  }
  return [...files]
    .filter(([, paths]) => paths.size > 1)
    .map(([name, paths]) => `${[...paths].join(', ')}: the type ${name} is exported more than once`);
}
