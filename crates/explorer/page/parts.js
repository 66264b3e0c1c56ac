// Small components that several views use.

const { html, render, useState, useEffect, useLayoutEffect, useRef, useMemo, useCallback, createContext, useContext } = htmPreact

/** The engine and the report, for every view. */
const Shared = createContext(null)
const useEngine = () => useContext(Shared)

/** The name of the theme; charts redraw when it changes. */
const Theme = createContext('light')

/**
 * A verdict as a chip: a sign and words, so that the colour is never the only difference.
 * @param {{tone: 'good' | 'bad' | 'plain' | 'warn', title?: string}} props
 */
function Chip({ tone, title, children }) {
  const sign = { good: '✓', bad: '✗', warn: '!', plain: '' }[tone]
  return html`<span class="chip ${tone}" title=${title}>${sign && html`<span class="sign" aria-hidden="true">${sign}</span>`}${children}</span>`
}

function Note({ tone = 'plain', children }) {
  return html`<div class="note ${tone}" role=${tone === 'bad' ? 'alert' : 'status'}>${children}</div>`
}

function Spinner({ children }) {
  return html`<p class="spinner" role="status"><span class="wheel" aria-hidden="true"></span>${children}</p>`
}

/** A text of the data, in which `this` is code and *this* is emphasis. */
function Prose({ text }) {
  return (text ?? '').split(/(`[^`]*`|\*[^*\s][^*]*\*)/).map(part => {
    if (part.length > 2 && part.startsWith('`')) return html`<code>${part.slice(1, -1)}</code>`
    if (part.length > 2 && part.startsWith('*')) return html`<em>${part.slice(1, -1)}</em>`
    return part
  })
}

function Command({ text }) {
  const [said, setSaid] = useState('')
  const copy = async () => setSaid(await copyText(text) ? 'copied' : 'select the text and copy it')
  return html`<span class="command"><code>${text}</code> <button type="button" class="small" onClick=${copy}>Copy</button> <span role="status">${said}
    </span></span>`
}

/**
 * The answer of a promise: `{state: 'idle' | 'busy' | 'done' | 'failed', value, error}`.
 * The work is left when the view is, or when `keys` change.
 */
function useAnswer(work, keys) {
  const [answer, setAnswer] = useState({ state: 'idle' })
  useEffect(() => {
    if (!work) return setAnswer({ state: 'idle' })
    const controller = new AbortController()
    setAnswer({ state: 'busy' })
    work(controller.signal).then(
      value => controller.signal.aborted || setAnswer({ state: 'done', value }),
      error => controller.signal.aborted || setAnswer({ state: 'failed', error }),
    )
    return () => controller.abort()
  }, keys)
  return answer
}

/** Messages are sentences for the reader; anything else is a mistake of the page, which says so. */
const errorText = error => error instanceof Message ? error.message : `The page failed: ${error.message}`

function ErrorNote({ error }) {
  return html`<${Note} tone="bad"><${Prose} text=${errorText(error)} /></${Note}>`
}
