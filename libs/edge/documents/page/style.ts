/** One column for navigation and one for content. Light or dark as the browser prefers. */
export const STYLE = `
:root { color-scheme: light dark; --line: #d8dde3; --soft: #f5f7f9; --dim: #5b6672; --text: #17202a; --page: #fff; --link: #0b57a4;
  --get: #0b6b3a; --post: #0b57a4; --put: #8a5300; --delete: #a4262c; }
@media (prefers-color-scheme: dark) { :root { --line: #2f3a45; --soft: #18212a; --dim: #98a4b0; --text: #dde4ea; --page: #0f161d;
  --link: #7ab7f5; --get: #57c98b; --post: #7ab7f5; --put: #e0a64e; --delete: #f0868b; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; display: grid; grid-template-columns: minmax(15rem, 20rem) minmax(0, 1fr); background: var(--page); color: var(--text);
  font: 15px/1.55 system-ui, sans-serif; }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.25rem; border-right: 1px solid var(--line); background: var(--soft);
  font-size: 13px; }
nav h2 { margin: 1.5rem 0 0.25rem; font-size: 15px; } nav h2:first-child { margin-top: 0; }
nav h3 { margin: 1rem 0 0.25rem; font-size: 12px; color: var(--dim); }
nav ul { list-style: none; margin: 0; padding: 0; } nav li { overflow-wrap: anywhere; }
nav a { color: inherit; display: block; padding: 0.1rem 0; }
main { padding: 2rem 2.5rem 6rem; max-width: 68rem; }
a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
h1 { margin: 0; font-size: 28px; } h2 { margin: 3.5rem 0 0; font-size: 22px; } h4 { margin: 1.4rem 0 0.4rem; font-size: 14px; }
section.part > h2 { border-top: 2px solid var(--text); padding-top: 0.5rem; }
article { margin-top: 1.5rem; padding-top: 1.5rem; border-top: 1px solid var(--line); } article h3 { margin: 0; font-size: 17px; }
article:target { border-top-color: var(--link); }
.version, .access, .kind, .optional { color: var(--dim); } .kind { margin: 0.4rem 0; font-size: 13px; } .optional { font-size: 12px; font-weight: 400; }
.summary { font-size: 16px; margin: 0.3rem 0; } .access { font-size: 13px; }
.verb { font: 700 11px ui-monospace, monospace; text-transform: uppercase; } .get, .out { color: var(--get); } .post, .in { color: var(--post); }
.put { color: var(--put); } .delete { color: var(--delete); }
code, pre { font: 0.92em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: 4px; padding: 0.75rem; overflow: auto; max-height: 28rem; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: 14px; }
th, td { text-align: left; vertical-align: top; padding: 0.35rem 0.75rem 0.35rem 0; border-top: 1px solid var(--line); font-weight: 400; }
.fields th { width: 30%; } .fields td:nth-child(2) { width: 28%; color: var(--dim); overflow-wrap: anywhere; }
details { border-top: 1px solid var(--line); } summary { padding: 0.4rem 0; cursor: pointer; } summary code { color: var(--dim); }
.s2 summary b { color: var(--get); } .s4 summary b { color: var(--put); } .s5 summary b { color: var(--delete); }
@media (max-width: 50rem) { body { display: block; } nav { position: static; height: auto; border: 0; } main { padding: 1.25rem; } }
@media print { nav { display: none; } body { display: block; } }
`;
