const { join } = require('node:path');

/** At run time `#libs/*` means the compiled file; the graph is drawn from the sources, in the tree that is being checked. */
module.exports = {
  resolve: {
    alias: { '#apps': join(process.cwd(), 'apps'), '#libs': join(process.cwd(), 'libs') },
    extensionAlias: { '.js': ['.ts', '.js'] },
  },
};
