/** The page's style, in both colour schemes. */
export const PAGE_STYLE = `
:root{color-scheme:light dark;--text:#1c2128;--dim:#5b6570;--line:#d5dae0;--panel:#f6f8fa;--ground:#fff;--good:#1a7f37;--bad:#c42b1c;--wait:#9a6700;--accent:#0969da}
@media(prefers-color-scheme:dark){:root{--text:#e3e7ec;--dim:#9aa4ae;--line:#3a424b;--panel:#20262d;--ground:#161b21;--good:#57c26f;--bad:#ff7b70;--wait:#e0ac3d;--accent:#6cb0ff}}
body{margin:0 auto;max-width:1080px;padding:24px;font:15px/1.5 system-ui,sans-serif;color:var(--text);background:var(--ground)}
h1{font-size:22px;margin:0 0 8px}h2{font-size:16px;margin:28px 0 10px}
dl{display:flex;flex-wrap:wrap;gap:6px 24px;margin:0}dl div{display:flex;gap:6px}dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}
code{font:13px ui-monospace,monospace}
.status{font-size:12px;font-weight:600;border:1px solid;border-radius:10px;padding:1px 8px;vertical-align:2px;color:var(--dim)}
.status.completed{color:var(--good)}.status.failed{color:var(--bad)}.status.running,.status.waiting,.status.paused,.status.retrying,.status.cancelling,.status.cancelled,.status.completed_with_errors{color:var(--wait)}
.error{color:var(--bad);margin:8px 0;overflow-wrap:anywhere}
.scroll{overflow-x:auto;border:1px solid var(--line);border-radius:6px}
svg{display:block}svg text{font:13px system-ui,sans-serif;fill:var(--text)}svg .name{font-weight:600}svg .type,svg .when,svg .way text{font-size:12px;fill:var(--dim)}
svg rect{fill:var(--panel);stroke:var(--line);stroke-width:1.5}svg .completed rect{stroke:var(--good)}svg .failed rect{stroke:var(--bad)}svg .running rect,svg .cancelled rect,svg .waiting rect{stroke:var(--wait)}svg .waiting rect,svg .skipped rect{stroke-dasharray:5 4}svg .skipped{opacity:.6}svg .unreached{opacity:.55}
svg .way path{fill:none;stroke:var(--line);stroke-width:1.5;stroke-dasharray:4 4}svg .way.taken path{stroke:var(--accent);stroke-width:2;stroke-dasharray:none}svg .way.taken text{fill:var(--text)}
svg .head{fill:var(--dim);stroke:none}svg .end circle{fill:var(--panel);stroke:var(--dim);stroke-width:2}
.timeline{border:1px solid var(--line);border-radius:6px;padding:8px 12px}.row{display:grid;grid-template-columns:minmax(90px,190px) 1fr 150px;gap:12px;align-items:center;padding:3px 0}
.label{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}.track{position:relative;height:14px;background:var(--panel);border-radius:3px}.bar{position:absolute;top:0;bottom:0;border-radius:3px;background:var(--wait)}.bar.completed{background:var(--good)}.bar.failed{background:var(--bad)}.bar.wait{opacity:.55;background-image:repeating-linear-gradient(45deg,transparent 0 5px,var(--ground) 5px 7px)}.bar.list{opacity:.45}.bar.cancelled{background:var(--dim)}.items{border:0;margin:0;padding:0 0 4px 16px}.items summary{color:var(--dim);font-size:13px}.items .row{grid-template-columns:minmax(74px,174px) 1fr 150px}.items .track{height:9px}.took{color:var(--dim);font-size:13px}
details{border:1px solid var(--line);border-radius:6px;margin:6px 0;padding:4px 12px}summary{cursor:pointer}.count{color:var(--dim);font-size:13px}ul{list-style:none;margin:6px 0;padding:0}li{overflow-wrap:anywhere;margin:2px 0}li b{display:inline-block;width:1em}.added b{color:var(--good)}.removed b{color:var(--bad)}.changed b{color:var(--wait)}li span{color:var(--dim)}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:4px 12px 4px 0;border-bottom:1px solid var(--line)}th{color:var(--dim);font-weight:500}tfoot td{font-weight:600;border:0}
`;
