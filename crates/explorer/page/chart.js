// Charts: curves by uPlot, bars by SVG.

const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3], [14, 4], [4, 2]]

/** Colours come from the style sheet, so that a chart follows the theme. */
function themeColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim()
}

/**
 * Curves in one chart. Each series has a name, points `{x, y}`, and is told apart by its name at its end and by its
 * dashes as well as by its colour.
 * @param {{series: {name: string, points: {x: number, y: number}[]}[], xName: string, yName: string, isLogX: boolean, isLogY: boolean}} props
 */
function Curves({ series, xName, yName, isLogX, isLogY, height = 340 }) {
  const box = useRef(null)
  const theme = useContext(Theme)
  useEffect(() => {
    const element = box.current
    let chart = null
    const draw = () => {
      chart?.destroy()
      chart = new uPlot(...plot(series, { xName, yName, isLogX, isLogY, height, width: element.clientWidth }), element)
    }
    draw()
    const observer = new ResizeObserver(() => element.clientWidth && chart.width !== element.clientWidth && draw())
    observer.observe(element)
    return () => {
      observer.disconnect()
      chart.destroy()
    }
  }, [series, xName, yName, isLogX, isLogY, height, theme])
  const names = series.map(one => one.name).join(', ')
  return html`<div class="chart" ref=${box} role="img" aria-label=${`${yName} against ${xName}: ${names}. The table below has the numbers.`}></div>`
}

function plot(series, { xName, yName, isLogX, isLogY, height, width }) {
  const xs = [...new Set(series.flatMap(one => one.points.map(point => point.x)))].sort((a, b) => a - b)
  const columns = series.map(one => {
    const values = new Map(one.points.map(point => [point.x, point.y]))
    // A logarithmic axis has no place for 0.
    return xs.map(x => values.has(x) && (!isLogY || values.get(x) > 0) ? values.get(x) : null)
  })
  const ink = themeColour('--ink')
  const grid = { stroke: themeColour('--rule'), width: 1 }
  const axis = label => ({ label, stroke: ink, grid, ticks: grid, font: '13px system-ui', labelFont: '13px system-ui', labelSize: 26, size: 64 })
  const colour = index => themeColour(`--series-${index % 6}`)
  const options = {
    width, height,
    padding: [14, 170, 0, 4],
    legend: { show: false },
    cursor: { drag: { x: false, y: false } },
    scales: {
      x: isLogX ? { time: false, distr: 3, log: 2 } : { time: false },
      y: isLogY ? { distr: 3, log: 10 } : { range: (_, low, high) => [0, high > 0 ? high * 1.08 : 1] },
    },
    axes: [{ ...axis(xName), splits: () => xs, values: (_, splits) => splits.map(split => split ?? ''), filter: (_, splits) => thin(splits, isLogX) }, axis(yName)],
    series: [{}, ...series.map((one, index) => ({
      label: one.name, stroke: colour(index), width: 2, dash: DASHES[index % DASHES.length], spanGaps: true,
      points: { show: true, size: 7, stroke: colour(index), fill: themeColour('--paper') },
    }))],
    hooks: { draw: [chart => nameCurves(chart, series, columns, colour)] },
  }
  return [options, [xs, ...columns]]
}

/** On a linear axis, doubled sizes crowd at the left: only those with room keep their number. */
function thin(splits, isLog) {
  if (isLog) return splits
  const gap = (splits.at(-1) - splits[0]) / 14
  let last = -Infinity
  return splits.map(value => value - last >= gap ? last = value : null)
}

/** Writes each curve's name at its right end, moved apart where they would overlap. */
function nameCurves(chart, series, columns, colour) {
  const { ctx, bbox } = chart
  const ratio = devicePixelRatio
  const ends = series.map((one, index) => {
    const last = columns[index].findLastIndex(value => value !== null)
    return last < 0 ? null : { name: one.name, index, x: chart.valToPos(chart.data[0][last], 'x', true), y: chart.valToPos(columns[index][last], 'y', true) }
  }).filter(Boolean).sort((a, b) => a.y - b.y)
  ctx.save()
  ctx.font = `${13 * ratio}px system-ui`
  ctx.textBaseline = 'middle'
  ctx.textAlign = 'left'
  let floor = -Infinity
  for (const end of ends) {
    const y = Math.max(end.y, floor)
    floor = y + 16 * ratio
    ctx.fillStyle = colour(end.index)
    ctx.fillText(end.name, Math.min(end.x, bbox.left + bbox.width) + 9 * ratio, y)
  }
  ctx.restore()
}

/**
 * Horizontal bars with their values.
 * @param {{bars: {label: string, value: number, shown: string, isFilled: boolean}[], label: string}} props
 */
function Bars({ bars, label }) {
  const highest = Math.max(1, ...bars.map(bar => bar.value))
  const names = Math.max(...bars.map(bar => bar.label.length)) * 7.6 + 12
  const row = 24
  const length = 420
  return html`<svg class="bars" width=${names + length + 90} height=${bars.length * row + 4} role="img" aria-label=${`${label}: ${bars.map(bar => `${bar.label} ${bar.shown}`).join(', ')}`}>
    ${bars.map((bar, index) => html`<g>
      <text class="ink" x=${names - 8} y=${index * row + 17} text-anchor="end">${bar.label}</text>
      <rect class=${bar.isFilled ? 'bar filled' : 'bar'} x=${names} y=${index * row + 5} width=${Math.max(1, bar.value / highest * length)} height=${row - 8} />
      <text class="ink" x=${names + bar.value / highest * length + 8} y=${index * row + 17}>${bar.shown}</text></g>`)}</svg>`
}

/** Curves of one variable with their axes' options, and the numbers as a table. */
function CurveChart({ variable, curves }) {
  const [isLogX, setLogX] = useState(true)
  const [isLogY, setLogY] = useState(true)
  const [isMean, setMean] = useState(false)
  // Where there is no bound, the numbers are those of the schedules that were tried: a curve of them would mean nothing.
  const bounded = curves.filter(curve => !curve.unbounded)
  const series = useMemo(() => bounded.map(curve => ({
    name: curve.name,
    points: curve.points.map(point => ({ x: point.x, y: isMean ? point.mean : point.worst })).filter(point => point.y !== null && point.y !== undefined),
  })), [curves.map(curve => `${curve.name} ${curve.cost} ${curve.points.length}`).join(), isMean])
  const check = (label, isOn, set) => html`<label class="check">
    <input type="checkbox" checked=${isOn} onChange=${event => set(event.target.checked)} /> ${label}</label>`
  return html`<figure class="curves">
    <div class="options">${check(`logarithmic ${variable}`, isLogX, setLogX)}${check('logarithmic RMRs', isLogY, setLogY)}${check('mean instead of worst passage', isMean, setMean)}</div>
    ${bounded.length === 0 ? html`<p class="muted">Unbounded: there is no curve.</p>` : html`<${Curves} series=${series} xName=${variable} yName=${`RMRs of the ${isMean ? 'mean' : 'worst'} passage`} isLogX=${isLogX} isLogY=${isLogY} />`}
    <${CurveTable} variable=${variable} curves=${curves} isMean=${isMean} /></figure>`
}

function CurveTable({ variable, curves, isMean }) {
  const xs = [...new Set(curves.flatMap(curve => curve.points.map(point => point.x)))].sort((a, b) => a - b)
  const value = (curve, x) => {
    const point = curve.points.find(point => point.x === x)
    if (!point) return '–'
    // A schedule that was cut short shows a lower bound.
    return `${point.truncated ? '≥ ' : ''}${(isMean ? point.mean?.toFixed(1) : point.worst) ?? '–'}`
  }
  return html`<div class="wide"><table class="numbers"><thead><tr><th scope="col">RMRs at ${variable} =</th>${xs.map(x => html`<th scope="col">${x}
    </th>`)}<th scope="col">fitted</th><th scope="col">claimed</th></tr></thead>
    <tbody>${curves.map(curve => html`<tr><th scope="row">${curve.name}</th>${xs.map(x => html`<td>${value(curve, x)}</td>`)}
      <td>${curve.unbounded ? 'unbounded' : curve.fitted ?? '–'}</td><td>${curve.claimed ?? '–'}</td></tr>`)}</tbody></table></div>`
}
