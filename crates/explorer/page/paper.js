// The lines of the source, with the processes that are about to execute them.

/** @param {{p: number, line: string | null, next: string | null, row?: number | null}[]} [positions] where each process is */
function PaperLines({ text, positions = [] }) {
  const placed = positions.map(position => ({ ...position, row: rowOfLine(text, position) }))
  const elsewhere = placed.filter(position => position.row === null && position.line)
  return html`<div class="paper-lines"><table>
    <tbody>${text.map((row, index) => html`<${PaperRow} row=${row} here=${placed.filter(position => position.row === index)} hasMarks=${positions.length > 0} />`)}</tbody></table>
    ${elsewhere.map(position => html`<p class="elsewhere"><span class="at-line">p${position.p}
      </span> is at line ${position.line} of a part that is not quoted here: ${position.next}</p>`)}</div>`
}

function PaperRow({ row, here, hasMarks }) {
  // A remark stands far to the right in the file; here it gets a column of its own.
  const [, code, remark = ''] = row.text.match(/^(\s*\S.*?)(?:\s{3,}(\S.*))?$/) ?? [null, row.text]
  return html`<tr class=${here.length ? 'here' : ''}>
    ${hasMarks && html`<td class="marks">${here.map(position => html`<span class="at-line">p${position.p}</span>`)}</td>`}
    <td class="number">${row.line ?? ''}</td><td class="code">${code}</td><td class="remark">${remark}</td></tr>`
}

/**
 * The row of the text at which a process is.
 *
 * Lines of a lock inside another one have their own numbers, which the outer text may use as well: `fast-path` and
 * Peterson's lock in it both have a line 8. The data should name the row; where it does not, a row whose text mentions
 * other registers but not the one that is accessed is not taken for it.
 */
function rowOfLine(text, position) {
  if (position.row !== undefined) return position.row
  if (!position.line) return null
  const rows = text.map((row, index) => ({ ...row, index })).filter(row => row.line === position.line)
  const name = position.next?.match(/[A-Za-z_][\w.]*/g)?.find(word => position.names.includes(word))
  const mentions = (row, word) => new RegExp(`(^|[^\\w])${escapeRegExp(word)}([^\\w]|$)`).test(row.text)
  const exact = name && rows.find(row => mentions(row, name))
  if (exact) return exact.index
  return rows.find(row => !position.names.some(other => other !== name && mentions(row, other)))?.index ?? null
}

const escapeRegExp = text => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
