package worker

import "time"

// spareFor is how long a goroutine whose driver has left waits for the next one.
const spareFor = time.Second

// launch runs a driver, on a goroutine that drove before if one is free: a new one begins with a small stack, which the
// first decision copies again and again until it fits, and in mode server a driver lives for one step.
func (p *Pool) launch(d *driver) {
	p.running.Add(1)
	select {
	case p.spare <- d:
	default:
		go p.driveAll(d)
	}
}

func (p *Pool) driveAll(d *driver) {
	patience := time.NewTimer(spareFor)
	defer patience.Stop()
	for {
		d.run()
		p.running.Done()
		patience.Reset(spareFor)
		select {
		case d = <-p.spare:
		case <-patience.C:
			return
		}
	}
}
