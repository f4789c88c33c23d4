package netns

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

const tunDevice = "/dev/net/tun"

// Plug makes a TAP device in a namespace, with its address and neighbours, up. What
// the namespace's system sends can be read from the file, one Ethernet frame at a
// time, and what is written to it the system receives. Reads and writes wait in Go's
// poller. The device is gone when the file is closed, or the program has ended.
//
// The system neither leaves checksums to the device nor segments larger than a
// frame.
func Plug(namespace string, i Interface) (*os.File, error) {
	if err := i.check(); err != nil {
		return nil, err
	}
	var file *os.File
	err := Do(namespace, func() (err error) {
		if file, err = openTAP(i.Name); err != nil {
			return err
		}
		return withoutIPv6(i.Name)
	})
	if err == nil {
		err = ipBatch(namespace, i.script())
	}
	if err != nil && file != nil {
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return nil, err
	}
	return file, nil
}

// openTAP must attach the device before the poller sees the file: what is not
// attached always seems to have failed.
func openTAP(name string) (*os.File, error) {
	fd, err := unix.Open(tunDevice, unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", tunDevice, err)
	}
	request, err := unix.NewIfreq(name)
	if err == nil {
		request.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI | unix.IFF_TUN_EXCL)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, request)
	}
	if err == nil {
		err = unix.IoctlSetInt(fd, unix.TUNSETOFFLOAD, 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make TAP device %s: %w", name, err), unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), tunDevice), nil
}

// withoutIPv6 keeps the system from sending what nobody asked for: IPv6 greets its
// neighbours. It must be called inside of the namespace.
func withoutIPv6(name string) error {
	err := os.WriteFile("/proc/sys/net/ipv6/conf/"+name+"/disable_ipv6", []byte("1"), 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.EROFS) { // a system without IPv6; a container
		return nil
	}
	return err
}
