#include "CLinux.h"

#include <errno.h>
#include <linux/videodev2.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

static int call(int descriptor, unsigned long request, void *argument) {
    int result;
    do result = ioctl(descriptor, request, argument);
    while (result < 0 && errno == EINTR);
    return result;
}

/// Asks for a format that can be converted; the camera may choose another size.
static int choose_format(linux_camera *camera) {
    static const unsigned formats[] = {V4L2_PIX_FMT_MJPEG, V4L2_PIX_FMT_YUYV};
    for (int index = 0; index < 2; index++) {
        struct v4l2_format format = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
        format.fmt.pix.width = 1280;
        format.fmt.pix.height = 720;
        format.fmt.pix.pixelformat = formats[index];
        format.fmt.pix.field = V4L2_FIELD_ANY;
        if (call(camera->descriptor, VIDIOC_S_FMT, &format) < 0) continue;
        if (format.fmt.pix.pixelformat != formats[index]) continue;
        camera->width = format.fmt.pix.width;
        camera->height = format.fmt.pix.height;
        camera->line = format.fmt.pix.bytesperline;
        camera->sends_jpeg = formats[index] == V4L2_PIX_FMT_MJPEG;
        return 0;
    }
    errno = EPROTONOSUPPORT;
    return -1;
}

static int map_buffers(linux_camera *camera) {
    struct v4l2_requestbuffers request = {
        .count = 4, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
    if (call(camera->descriptor, VIDIOC_REQBUFS, &request) < 0) return -1;
    for (unsigned index = 0; index < request.count && index < 4; index++) {
        struct v4l2_buffer buffer = {
            .index = index, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
        if (call(camera->descriptor, VIDIOC_QUERYBUF, &buffer) < 0) return -1;
        void *memory = mmap(
            NULL, buffer.length, PROT_READ, MAP_SHARED, camera->descriptor, buffer.m.offset);
        if (memory == MAP_FAILED) return -1;
        camera->buffers[index] = memory;
        camera->sizes[index] = buffer.length;
        camera->count = index + 1;
        if (linux_camera_return(camera, (int)index) < 0) return -1;
    }
    return 0;
}

int linux_camera_start(int descriptor, linux_camera *camera) {
    memset(camera, 0, sizeof *camera);
    camera->descriptor = descriptor;
    struct v4l2_capability facts = {0};
    if (call(descriptor, VIDIOC_QUERYCAP, &facts) < 0) return -1;
    unsigned able = facts.capabilities & V4L2_CAP_DEVICE_CAPS ? facts.device_caps : facts.capabilities;
    unsigned needed = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
    if ((able & needed) != needed) {
        errno = ENOTTY;
        return -1;
    }
    if (choose_format(camera) < 0 || map_buffers(camera) < 0) return -1;
    int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    return call(descriptor, VIDIOC_STREAMON, &type);
}

int linux_camera_next(linux_camera *camera, unsigned long *size) {
    struct v4l2_buffer buffer = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
    if (call(camera->descriptor, VIDIOC_DQBUF, &buffer) < 0) return -1;
    if (buffer.index >= camera->count || buffer.bytesused > camera->sizes[buffer.index]) {
        errno = EPROTO;
        return -1;
    }
    *size = buffer.flags & V4L2_BUF_FLAG_ERROR ? 0 : buffer.bytesused;
    return (int)buffer.index;
}

int linux_camera_return(linux_camera *camera, int index) {
    struct v4l2_buffer buffer = {
        .index = (unsigned)index, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
    return call(camera->descriptor, VIDIOC_QBUF, &buffer);
}

void linux_camera_stop(linux_camera *camera) {
    int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    call(camera->descriptor, VIDIOC_STREAMOFF, &type);
    for (unsigned index = 0; index < camera->count; index++)
        munmap(camera->buffers[index], camera->sizes[index]);
    camera->count = 0;
}
