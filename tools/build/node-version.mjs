/** Imported first: a Node that is too old ends with one line instead of a fault elsewhere. */
const OLDEST = [22, 12];

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
  console.error(
    `sotto: Node ${OLDEST.join('.')} or newer is needed, this is ${process.versions.node}: run \`npm ci\` and call it by \`npm start\` or \`npm run\``,
  );
  process.exit(78);
}
