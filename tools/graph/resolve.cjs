const { join } = require('node:path');

/**
 * At run time `#libs/*` is the compiled file. The graph is drawn from the sources of the tree under check.
 */
module.exports = {
  resolve: {
    alias: { '#apps': join(process.cwd(), 'apps'), '#libs': join(process.cwd(), 'libs') },
    extensionAlias: { '.js': ['.ts', '.js'] },
  },
};
