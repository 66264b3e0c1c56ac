// What the page asks of the browser: storage, clipboard, downloads, and the time that a step takes.

/** Storage that may be missing: in a private window and from `file://` any access can throw. */
const stored = {
  get(key) {
    try {
      return localStorage.getItem(`doorway.${key}`)
    } catch {
      return null
    }
  },
  set(key, value) {
    try {
      localStorage.setItem(`doorway.${key}`, value)
    } catch {
      // Nothing is lost but the memory of it.
    }
  },
}

/** Copies a text. Returns whether that worked, so that the page can show the text instead. */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyBySelection(text)
  }
}

// `navigator.clipboard` needs a secure context, which `file://` is not in every browser.
function copyBySelection(text) {
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'off-screen'
  document.body.append(area)
  area.select()
  try {
    return document.execCommand('copy')
  } catch {
    return false
  } finally {
    area.remove()
  }
}

function download(name, type, text) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
}

/** What tests and curious users may read. */
window.doorway = { lastStepMs: null }

/** The time from a choice to the painted state. */
const stepTimer = {
  started: null,
  start() {
    this.started ??= performance.now()
  },
  /** Called once the state is in the document: the next frame paints it, and the task after that frame ends the measurement. */
  stopAfterPaint(report) {
    if (this.started === null) return
    const started = this.started
    this.started = null
    requestAnimationFrame(() => {
      const channel = new MessageChannel()
      channel.port1.onmessage = () => {
        window.doorway.lastStepMs = performance.now() - started
        report(window.doorway.lastStepMs)
      }
      channel.port2.postMessage(null)
    })
  },
}
