// Drives the page in a browser, once fed by `doorway explore` and once by a file that `doorway report` wrote.
//
//   node test.mjs --explore http://127.0.0.1:PORT --report /path/report.html [--only WORD]
//
// Prints one line for each test, and exits with 1 if one fails. CHROMIUM names the browser if it is not /usr/bin/chromium.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'

import { chromium } from 'playwright-core'

const EXCLUSION = '0.0.1.1.0.0.0.0.0.1.1'
const COUNTEREXAMPLE = `#/execution?algorithm=fast-path&n=2&k=1&property=exclusion&choices=${EXCLUSION}`
// Exported files are read back: a download has to be waited for.
const PATIENCE_MS = 20_000

const { values: options } = parseArgs({ options: { explore: { type: 'string' }, report: { type: 'string' }, only: { type: 'string' } } })
const feeds = []
if (options.explore) feeds.push({ name: 'explore', base: `${options.explore.replace(/\/$/, '')}/`, isServer: true })
if (options.report) feeds.push({ name: 'report', base: pathToFileURL(options.report).href, isServer: false })
if (feeds.length === 0) {
  console.error('test.mjs: nothing to test; give --explore ADDRESS, --report FILE, or both')
  process.exit(2)
}

/** The tests: a sentence that is true, and the steps that show it. */
const TESTS = {
  async 'the catalogue filters by verdict and by text'({ page, open }) {
    await open('#/')
    const rows = page.locator('table.catalogue tbody tr')
    const all = await rows.count()
    assert.ok(await page.locator('tr[data-name="peterson"]').count() === 1, 'peterson is in the catalogue')
    await page.selectOption('select[name=status]', 'broken')
    assert.equal(await page.locator('tr[data-name="peterson"]').count(), 0, 'peterson is not broken')
    const broken = await rows.count()
    assert.ok(broken > 0 && broken < all, `${broken} of ${all} are broken`)
    assert.equal(await page.locator('table.catalogue .chip.bad').count(), broken)
    await page.fill('input[name=text]', 'fast-path')
    assert.match(await page.locator('tr[data-name="fast-path"]').innerText(), /one process enters on the fast path and another on the slow path/)
    await page.fill('input[name=text]', 'no such lock')
    assert.equal(await rows.count(), 0)
  },

  async 'the catalogue sorts by name, both ways'({ page, open }) {
    await open('#/')
    const names = () => page.locator('table.catalogue a.name').allInnerTexts()
    const head = page.locator('table.catalogue button.head', { hasText: 'algorithm' })
    await head.click()
    const up = await names()
    assert.deepEqual(up, [...up].sort((a, b) => a.localeCompare(b, 'en', { numeric: true })))
    await head.click()
    assert.deepEqual(await names(), up.reverse())
  },

  async 'four clicks lead a new reader from the front page to two processes in the critical section'({ page, open }) {
    await open('#/')
    let clicks = 0
    const click = async locator => {
      clicks++
      await locator.click()
    }
    await click(page.getByRole('link', { name: /why fast-path is wrong/ }))
    await click(page.getByRole('link', { name: /Show the execution: exclusion fails in 11 steps/ }))
    const chip = page.locator('[data-broken=exclusion]')
    await chip.waitFor()
    assert.match(await chip.innerText(), /processes 0 and 1 are in the critical section/)
    assert.equal(await page.locator('svg.lanes .event').count(), 11)
    assert.ok(clicks <= 4, `${clicks} clicks`)
  },

  async 'a row of the catalogue opens the algorithm, with its lines and what was found'({ page, open }) {
    await open('#/')
    await page.locator('tr[data-name="fast-path"] td').nth(2).click()
    await page.locator('table.claims').waitFor()
    assert.match(await page.locator('.paper-lines').innerText(), /while y ≠ -1 do nothing/)
    const exclusion = page.locator('table.claims tr', { has: page.locator('th', { hasText: /^exclusion$/ }) })
    assert.match(await exclusion.innerText(), /fails[\s\S]*fails[\s\S]*show the execution/)
    assert.match(await page.locator('.figures').innerText(), /states\s+348/)
    assert.match(await page.locator('main').innerText(), /doorway check fast-path/)
  },

  async 'walking the counterexample turns the chip red with its last step, and stepping back undoes it'({ page, open, where, sections }) {
    await open(COUNTEREXAMPLE)
    await page.getByRole('button', { name: 'Start' }).click()
    assert.match(await where(), /^0 of 11 steps: the initial state/)
    for (let step = 1; step <= 10; step++) await page.getByRole('button', { name: 'Forward' }).click()
    assert.match(await where(), /^10 of 11 steps: p1 line 8: y := 1/)
    assert.equal(await page.locator('[data-broken=exclusion]').count(), 0)
    await page.getByRole('button', { name: 'Forward' }).click()
    // p1 has accessed x and y only, twice each, which have no home: all four are remote in the DSM model.
    assert.match(await page.locator('tr[data-process="1"] .count').last().innerText(), /^4 \/ 4$/)
    assert.match(await page.locator('[data-broken=exclusion]').innerText(), /processes 0 and 1 are in the critical section.*step 11/s)
    assert.deepEqual(await sections(), ['critical section', 'critical section'])
    await page.getByRole('button', { name: 'Back', exact: false }).click()
    assert.equal(await page.locator('[data-broken=exclusion]').count(), 0)
    assert.deepEqual(await sections(), ['critical section', 'waiting section'])
  },

  async 'reads are joined to the writes that they saw'({ page, open }) {
    await open(COUNTEREXAMPLE)
    await page.locator('svg.lanes').waitFor()
    // Step 6 and step 11 read x = 1, which step 3 wrote; the other reads see initial values.
    assert.equal(await page.locator('svg.lanes path.arrow:not(.now)').count(), 2)
    assert.match(await page.locator('.event[data-step="6"] title').textContent(), /reads what step 3 wrote/)
    assert.match(await page.locator('.event[data-step="2"] title').textContent(), /reads the initial value/)
  },

  async 'another choice drops the rest, and its link leads back to the same state'({ page, open, where, registers, newPage, errors }) {
    await open(`${COUNTEREXAMPLE}&at=10`)
    await page.locator('button[data-choice="0"]').click()
    await page.waitForFunction(() => /^11 of 11/.test(document.querySelector('.where').innerText) && /p0/.test(document.querySelector('.where').innerText))
    assert.match(await where(), /^11 of 11 steps: p0 line 13: y := ⊥/)
    assert.equal(await page.locator('[data-broken=exclusion]').count(), 0)
    const before = await registers()
    assert.equal(before.y, '⊥')
    await page.getByRole('button', { name: 'Copy link' }).click()
    await page.getByText('Link copied').waitFor()
    const link = await page.evaluate(() => navigator.clipboard.readText())
    assert.match(link, /algorithm=fast-path.*choices=0\.0\.1\.1\.0\.0\.0\.0\.0\.1\.0/)
    const other = await newPage()
    await other.page.goto(link)
    await other.page.locator('svg.lanes').waitFor()
    assert.deepEqual(await other.registers(), before)
    assert.equal(await other.where(), await where())
    assert.deepEqual(errors(), [])
  },

  async 'a process can be shown alone, and unchanged registers can be hidden'({ page, open }) {
    await open(COUNTEREXAMPLE)
    await page.selectOption('select[name=only]', '1')
    assert.equal(await page.locator('svg.lanes .event').count(), 4)
    assert.match(await page.locator('.event[data-step="11"]').textContent(), /x = 1/)
    assert.equal(await page.locator('[data-register="flag[1]"]').count(), 1)
    await page.check('input[name=unchanged]')
    assert.equal(await page.locator('[data-register="flag[1]"]').count(), 0)
    assert.equal(await page.locator('[data-register="flag[0]"]').count(), 1)
  },

  async 'a lasso is a loop: after its last step its cycle starts again'({ page, open, where }) {
    await open('#/algorithm/fast-path')
    await page.locator('table.claims').waitFor()
    await page.locator('table.claims tr', { hasText: 'starvation-freedom' }).getByRole('link').click()
    await page.locator('svg.lanes .loop').waitFor()
    assert.match(await page.locator('svg.lanes').textContent(), /then for ever/)
    const steps = await page.locator('svg.lanes .event').count()
    assert.match(await where(), new RegExp(`^${steps} of ${steps} steps`))
    const cycle = Number(new URLSearchParams(page.url().split('?')[1]).get('cycle'))
    const [download] = await Promise.all([page.waitForEvent('download'), page.selectOption('select[name=export]', 'ITF')])
    const itf = JSON.parse(await readFile(await download.path(), 'utf8'))
    assert.deepEqual([itf.loop, itf.states.length], [cycle, steps])
    await page.getByRole('button', { name: 'Forward' }).click()
    assert.match(await where(), new RegExp(`^${cycle + 1} of ${steps} steps`))
  },

  async 'keys walk, choose, and show help'({ page, open, where }) {
    await open(COUNTEREXAMPLE)
    await page.locator('svg.lanes').waitFor()
    await page.keyboard.press('Home')
    assert.match(await where(), /^0 of 11/)
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowDown')
    assert.match(await where(), /^2 of 11/)
    await page.keyboard.press('ArrowLeft')
    assert.match(await where(), /^1 of 11 steps: p0 line 6: x := 0/)
    await page.keyboard.press('1')
    await page.waitForFunction(() => /^2 of 2 steps/.test(document.querySelector('.where').innerText))
    assert.match(await where(), /p1 line 6: x := 1/)
    await page.keyboard.press('?')
    assert.match(await page.locator('.keys').innerText(), /play or pause/)
    await page.keyboard.press('Home')
    await page.keyboard.press(' ')
    assert.match(await page.locator('.toolbar').innerText(), /Pause/)
    await page.waitForFunction(() => /^2 of 2 steps/.test(document.querySelector('.where').innerText) && document.querySelector('.toolbar').innerText.includes('Play'))
  },

  async 'a link that does not fit is followed as far as it goes, and says so'({ page, open, where }) {
    await open('#/execution?algorithm=fast-path&n=2&k=1&choices=0.1.c0.0&v=0.0.0-other')
    await page.locator('svg.lanes').waitFor()
    const notes = await page.locator('.link-notes').innerText()
    assert.match(notes, /made with version 0\.0\.0-other/)
    assert.match(notes, /followed for 2 steps of 4\. Choice 3: c0 cannot happen in this state/)
    assert.match(await where(), /^2 of 2 steps/)
    await open('#/execution?algorithm=fast-pth&n=2')
    assert.match(await page.locator('main').innerText(), /No algorithm is called fast-pth/)
    await open('#/nowhere')
    assert.match(await page.locator('main').innerText(), /no view called nowhere/)
  },

  async 'a puzzle can be solved, and the best is remembered'({ page, open }) {
    await open('#/puzzles')
    const row = page.locator('table.puzzles tr', { hasText: 'fast-path' }).filter({ hasText: '11 steps' })
    assert.match(await row.innerText(), /–/)
    await row.getByRole('link', { name: 'Play' }).click()
    for (const [index, choice] of EXCLUSION.split('.').entries()) {
      await page.locator('.counter', { hasText: new RegExp(`^${index} step`) }).waitFor()
      assert.equal(await page.locator('.puzzle.solved').count(), 0)
      await page.locator(`button[data-choice="${choice}"]`).click()
    }
    await page.locator('.puzzle.solved').waitFor()
    assert.match(await page.locator('.puzzle').innerText(), /Broken in 11 steps: no execution is shorter/)
    await page.getByRole('link', { name: '← Puzzles' }).click()
    assert.match(await row.innerText(), /11 steps[\s\S]*11 steps/)
  },

  async 'giving up shows the shortest execution and sets no best'({ page, open, where }) {
    await open('#/puzzles')
    const row = page.locator('table.puzzles tr', { hasText: 'fast-path' }).filter({ hasText: '11 steps' })
    await row.getByRole('link', { name: 'Play' }).click()
    await page.locator('.give-up').click()
    await page.locator('svg.lanes .event').nth(10).waitFor()
    await page.keyboard.press('End')
    assert.match(await where(), /^11 of 11/)
    assert.match(await page.locator('.puzzle').innerText(), /shortest known execution: 11 steps/)
    await page.getByRole('link', { name: '← Puzzles' }).click()
    assert.match(await row.innerText(), /–/)
  },

  async 'curves are drawn, and their numbers are in a table'({ page, open, allow }) {
    // The browser's advice about reading pixels is for this test, not for the page.
    allow(/willReadFrequently/)
    await open('#/measurements')
    if (await page.locator('canvas').count() === 0) await page.selectOption('select[name=add]', 'ticket')
    await page.locator('canvas').waitFor({ timeout: 120_000 })
    await page.waitForTimeout(200)
    const coverage = () => page.evaluate(() => {
      const canvas = document.querySelector('canvas')
      const colour = getComputedStyle(document.documentElement).getPropertyValue('--series-0').trim()
      const [red, green, blue] = [1, 3, 5].map(start => parseInt(colour.slice(start, start + 2), 16))
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
      const near = (a, b) => Math.abs(a - b) < 12
      let columns = 0
      for (let x = 0; x < canvas.width; x++) {
        let isDrawn = false
        for (let y = 0; y < canvas.height && !isDrawn; y++) {
          const i = 4 * (y * canvas.width + x)
          isDrawn = data[i + 3] > 150 && near(data[i], red) && near(data[i + 1], green) && near(data[i + 2], blue)
        }
        if (isDrawn) columns++
      }
      return [columns, canvas.width]
    })
    // Points and names alone would cover far fewer columns than a line does.
    const assertDrawn = async axes => {
      const [drawn, width] = await coverage()
      assert.ok(drawn > width / 2, `${axes}: the first curve covers ${drawn} of ${width} columns`)
    }
    await assertDrawn('both logarithmic')
    await page.getByLabel('logarithmic RMRs').uncheck()
    await assertDrawn('logarithmic N')
    await page.getByLabel('logarithmic N').uncheck()
    await assertDrawn('none logarithmic')
    assert.ok(await page.locator('.curves table.numbers tbody td').count() >= 4)
  },

  async 'an execution is exported as SVG, text, JSON and ITF'({ page, open }) {
    await open(COUNTEREXAMPLE)
    const file = async kind => {
      const [download] = await Promise.all([page.waitForEvent('download'), page.selectOption('select[name=export]', kind)])
      return readFile(await download.path(), 'utf8')
    }
    const svg = await file('SVG')
    assert.match(svg, /^<\?xml[\s\S]*<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/)
    assert.match(svg, /fill="#bfe3c4"[\s\S]*critical section/)
    assert.doesNotMatch(svg, / class=|style=/)
    assert.match(await file('text'), / 11 {2}p1 {2}9 +x = 1 +-> inside/)
    assert.equal(JSON.parse(await file('JSON')).states.length, 12)
    const itf = JSON.parse(await file('ITF'))
    assert.equal(itf['#meta'].format, 'ITF')
    assert.equal(itf.states.length, 12)
    assert.deepEqual(itf.states[11].x, { '#bigint': '1' })
    assert.equal(itf.states[11]['flag[0]'], true)
    assert.ok(itf.vars.includes('victim'))
  },

  async 'an execution of 400 steps stays usable'({ page, open, where, feed }) {
    await open(`#/execution?algorithm=peterson&n=2&k=1&choices=${Array(400).fill('0').join('.')}`)
    await page.locator('svg.lanes .event').nth(399).waitFor()
    const times = []
    for (let i = 0; i < 10; i++) {
      await page.keyboard.press('ArrowLeft')
      await page.waitForFunction(count => document.querySelector('.where').innerText.startsWith(`${count} of 400`), 399 - i)
      await page.waitForTimeout(40)
      times.push(await page.evaluate(() => window.doorway.lastStepMs))
    }
    assert.match(await where(), /^390 of 400/)
    measured.push(`${feed.name}: of 400 steps, one step back is painted after ${median(times).toFixed(1)} ms`)
  },

  async 'the theme can be changed, and stays'({ page, open }) {
    await open('#/')
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme)
    assert.equal(await theme(), 'light')
    await page.locator('button.theme').click()
    assert.equal(await theme(), 'dark')
    const [red, green, blue] = await page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number))
    assert.ok(red + green + blue < 150, 'the background is dark')
    await page.reload()
    await page.locator('table.catalogue').waitFor()
    assert.equal(await theme(), 'dark')
  },

  async 'the time of a step is measured'({ page, open, feed }) {
    await open('#/execution?algorithm=fast-path&n=2&k=1&at=0')
    await page.locator('button[data-choice="0"]').waitFor()
    const times = []
    for (const [index, choice] of EXCLUSION.split('.').entries()) {
      await page.keyboard.press(choice)
      await page.waitForFunction(count => document.querySelector('.where').innerText.startsWith(`${count} of ${count}`), index + 1)
      await page.waitForTimeout(40)
      times.push(await page.evaluate(() => window.doorway.lastStepMs))
    }
    assert.ok(times.every(time => time > 0), times.join())
    measured.push(`${feed.name}: a chosen step is painted after ${median(times).toFixed(1)} ms, at most ${Math.max(...times).toFixed(1)} ms`)
  },
}

/** What only a server can do. */
const SERVER_TESTS = {
  async 'a process can crash, by keys'({ page, open, where }) {
    await open('#/execution?algorithm=peterson&n=2&k=1&crashes=1&choices=0')
    await page.locator('svg.lanes').waitFor()
    await page.keyboard.press('c')
    await page.keyboard.press('0')
    await page.waitForFunction(() => /^2 of 2 steps/.test(document.querySelector('.where').innerText))
    assert.match(await page.locator('tr[data-process="0"]').innerText(), /crashed/)
    assert.equal(await page.locator('tr[data-process="0"] button').count(), 0)
    assert.match(await where(), /crash/)
  },

  async 'the model can be changed to one with store buffers'({ page, open }) {
    await open('#/execution?algorithm=peterson&n=2&k=1')
    await page.getByText('Change the model').click()
    await page.check('input[name=tso]')
    await page.getByRole('button', { name: 'Start with this model' }).click()
    await page.locator('tr[data-buffer="0"]').waitFor()
    await page.locator('button[data-choice="0"]').click()
    await page.locator('tr[data-buffer="0"]', { hasText: 'flag[0] := true' }).waitFor()
    assert.equal(await page.locator('[data-register="flag[0]"] .cell-value').innerText(), 'false')
    await page.locator('button[data-choice="b0"]').click()
    await page.locator('[data-register="flag[0]"]', { hasText: 'true' }).waitFor()
  },

  async 'an error of the server is shown'({ page, open, allow }) {
    allow(/status of 400/)
    await open('#/execution?algorithm=peterson&n=3&k=1')
    await page.locator('.note.bad').waitFor()
    assert.match(await page.locator('.note.bad').innerText(), /peterson.*2 processes/)
  },
}

/** What only a report shows. */
const REPORT_TESTS = {
  async 'a counterexample without a graph is shown, and says what choosing needs'({ page, open }) {
    await open('#/')
    const known = await page.evaluate(() => {
      const report = JSON.parse(document.getElementById('report').textContent)
      for (const algorithm of report.algorithms) {
        const property = algorithm.found?.properties.find(one => one.execution?.full)
        if (property) return { name: algorithm.name, property: property.property, steps: property.execution.full.steps.length }
      }
      return null
    })
    assert.ok(known, 'the report has an execution outside its graphs')
    await open(`#/algorithm/${known.name}`)
    await page.locator('table.claims tr', { has: page.locator('th', { hasText: new RegExp(`^${known.property}$`) }) }).getByRole('link').click()
    await page.locator('svg.lanes').waitFor()
    assert.equal(await page.locator('svg.lanes .event').count(), known.steps)
    assert.match(await page.locator('main').innerText(), new RegExp(`doorway explore ${known.name}`))
    assert.equal(await page.locator('button.choice:not(:disabled)').count(), 0)
  },
}

const median = numbers => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]
const measured = []

/** A page of its own, with all that it asks for and all that it complains about. */
async function openPage(context, feed, log) {
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  page.on('request', request => isForeign(request.url(), feed) && log.foreign.push(request.url()))
  page.on('websocket', socket => log.foreign.push(socket.url()))
  page.on('console', message => (message.type() === 'error' || message.type() === 'warning') && log.errors.push(message.text()))
  page.on('pageerror', error => log.errors.push(error.stack))
  return {
    page,
    open: async hash => {
      await page.goto('about:blank')
      await page.goto(feed.base + hash)
      await page.locator('header.top').waitFor()
    },
    where: async () => (await page.locator('.where').innerText()).replace(/\s+/g, ' '),
    sections: () => page.locator('table.processes .section').allInnerTexts(),
    registers: () => page.locator('.cell').evaluateAll(cells => Object.fromEntries(cells.map(cell => [cell.dataset.register, cell.querySelector('.cell-value').innerText]))),
  }
}

function isForeign(address, feed) {
  const url = new URL(address)
  if (['about:', 'data:', 'blob:'].includes(url.protocol)) return false
  if (!feed.isServer) return url.protocol !== 'file:'
  return url.origin !== new URL(feed.base).origin
}

async function runTest(browser, feed, name, test) {
  const log = { foreign: [], errors: [] }
  const allowed = []
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: 'light', offline: !feed.isServer, acceptDownloads: true })
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const errors = () => log.errors.filter(text => !allowed.some(pattern => pattern.test(text)))
  try {
    const first = await openPage(context, feed, log)
    await test({ ...first, feed, errors, allow: pattern => allowed.push(pattern), newPage: () => openPage(context, feed, log) })
    assert.deepEqual(errors(), [], 'the console is empty')
    assert.deepEqual(log.foreign, [], 'no request leaves the machine')
    console.log(`ok    ${feed.name}: ${name}`)
    return true
  } catch (error) {
    console.log(`FAIL  ${feed.name}: ${name}\n      ${String(error.message).replaceAll('\n', '\n      ')}${errors().map(text => `\n      console: ${text}`).join('')}`)
    return false
  } finally {
    await context.close()
  }
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'],
})
let failures = 0
for (const feed of feeds) {
  const tests = { ...TESTS, ...(feed.isServer ? SERVER_TESTS : REPORT_TESTS) }
  for (const [name, test] of Object.entries(tests)) {
    if (options.only && !name.includes(options.only)) continue
    if (!await runTest(browser, feed, name, test)) failures++
  }
}
await browser.close()
for (const line of measured) console.log(line)
if (failures > 0) {
  console.log(`${failures} failed`)
  process.exit(1)
}
